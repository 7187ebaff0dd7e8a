# csan explore over the samples: each racy one must be confirmed within a hundred schedules, each
# fixed one end equal in a thousand. `make test` does it with fewer (tests/shell/test_explore.sh).

EXPLORED := example_error missing_wait double_buffer free_in_use

.PHONY: explore-samples
explore-samples: build $(EXPLORED:%=$(PROGRAM_OUT)/plain/%) $(EXPLORED:%=$(PROGRAM_OUT)/plain/%_fixed)
	@for sample in $(EXPLORED); do \
		$(CSAN) explore --runs=100 --until=confirmed $(PROGRAM_OUT)/plain/$$sample >$(OUT)/explore.log; \
		tail -1 $(OUT)/explore.log | sed "s/^csan explore/$$sample/"; \
		grep -q '1 race, 1 confirmed' $(OUT)/explore.log || { cat $(OUT)/explore.log; exit 1; }; \
		$(CSAN) explore --runs=1000 $(PROGRAM_OUT)/plain/$${sample}_fixed >$(OUT)/explore.log || \
			{ cat $(OUT)/explore.log; exit 1; }; \
		tail -1 $(OUT)/explore.log | sed "s/^csan explore/$${sample}_fixed/"; \
	done

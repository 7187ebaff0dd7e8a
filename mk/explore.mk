# csan explore over the samples: each racy one must be confirmed within a hundred schedules, each
# fixed one end equal in a thousand. `make test` does it with fewer (tests/shell/test_explore.sh).

EXPLORED := example_error missing_wait double_buffer free_in_use $(filter image_filter,$(program))

.PHONY: explore-samples
explore-samples: build $(EXPLORED:%=$(PROGRAM_OUT)/plain/%) $(EXPLORED:%=$(PROGRAM_OUT)/plain/%_fixed)
	@rm -rf $(OUT)/tests/explore; mkdir -p $(OUT)/tests/explore; export TMPDIR=$(OUT)/tests/explore; \
	for sample in $(EXPLORED); do \
		$(CSAN) explore --runs=100 --until=confirmed $(PROGRAM_OUT)/plain/$$sample >$(OUT)/explore.log; \
		tail -1 $(OUT)/explore.log | sed "s/^csan explore/$$sample/"; \
		grep -q '1 race, 1 confirmed' $(OUT)/explore.log || { cat $(OUT)/explore.log; exit 1; }; \
		$(CSAN) explore --runs=1000 $(PROGRAM_OUT)/plain/$${sample}_fixed >$(OUT)/explore.log || \
			{ cat $(OUT)/explore.log; exit 1; }; \
		tail -1 $(OUT)/explore.log | sed "s/^csan explore/$${sample}_fixed/"; \
	done

# Every integration program under a few schedules: what csan calls free of races must end equal.
EXPLORE_RUNS ?= 20
.PHONY: explore-programs
explore-programs: build $(program:%=$(PROGRAM_OUT)/plain/%)
	@scripts/explore-programs --root $(OUT) --runs $(EXPLORE_RUNS) tests/integration samples

"""One model's training steps, made for and timed by turns.py. Usage: worker.py MODEL"""

import sys

import models
import turns


def main():
    (name,) = sys.argv[1:]
    turns.serve(models.training_step(name), models.synchronize, models.device_name())


main()

# The folder that lm-evaluation-harness wrote: multiple choice and gsm8k, two models.
probtruth check logs
probtruth compare logs

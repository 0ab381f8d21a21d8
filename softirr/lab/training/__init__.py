"""Training and evaluating the entailment model: from terminologies, word lists and labelled pairs to a folder that any measure loads.

The way of the data: :mod:`terminology`, :mod:`wordnet` and :mod:`labelled` read files; :mod:`words` and :mod:`morphology` hold what this
project knows by itself; :mod:`sources` brings them together, without the texts that are kept for measuring; :mod:`recipe` draws pairs from
them, :mod:`perturb` changes them the way people's wording differs; :mod:`tokens` makes batches, :mod:`loop` trains, :mod:`calibrate` makes
probabilities of outputs, :mod:`evaluate` measures, :mod:`card` writes down what was done.
"""

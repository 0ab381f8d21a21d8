"""Training and evaluating the entailment model.

From terminologies, word lists and labeled pairs to a folder that any measure loads.

Data flow: :mod:`source_graphs`, :mod:`labeled` and :mod:`wordings` read files; :mod:`words` and :mod:`morphology` hold
this project's own word lists; :mod:`sources` joins them without the texts of the benchmarks; :mod:`stream` draws pairs
from them, and :mod:`perturb` and :mod:`modifiers` change their wording; :mod:`batches` makes batches, :mod:`trainer`
trains by a :mod:`recipe`, :mod:`develop` calibrates the outputs, and :mod:`run` writes the model folder.
"""

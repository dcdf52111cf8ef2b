"""Tests of what only private names of torch make possible; with MXNET_TORCH_PRIVATE=0 they are skipped.

{file: {test: why}}; `*` stands for all tests of a file.
"""
RANDOM = 'plans draw no random numbers without a dispatch mode'
WRITES = 'a trace does not see writes to tensors that the program has made of nothing'
COMPILER = 'the public functions import the compiler of torch'
COUNTS = 'a shadow of a result is copied'
PAUSE = 'version counters cannot be set back'
PACKED = 'weights are not packed for oneDNN'
THREADS = 'the number of threads stays as it is'
MEMORY = 'nobody knows whether memory is shared'
SLOWER = 'the public functions are slower'

NEEDS = {
    'test_graph_tracing.py': {'test_a_graph_computes_what_the_function_does[written]': WRITES,
                              'test_generators_and_their_states': RANDOM, 'test_nothing_is_kept': COUNTS},
    'test_graph_plan.py': {'test_modes_have_plans_of_their_own': RANDOM, 'test_a_trace_draws_no_random_numbers': RANDOM,
                           'test_a_first_run_is_that_of_the_trace': RANDOM,
                           'test_a_first_run_with_something_else_is_computed': RANDOM,
                           'test_a_trace_leaves_no_values_behind': RANDOM,
                           'test_a_first_call_does_not_import_the_compiler': COMPILER},
}


def reason(file, test):
    """Why a test is skipped; None if it is not."""
    known = NEEDS.get(file, {})
    return known.get(test) or known.get(test.partition('[')[0]) or known.get('*')

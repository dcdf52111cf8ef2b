"""Tests of what only private names of torch make possible; with MXNET_TORCH_PRIVATE=0 they are skipped.

{file: {test: why}}; `*` stands for all tests of a file.
"""
RANDOM = 'plans draw no random numbers without a dispatch mode'
WRITES = 'a trace does not see writes to tensors that the program has made of nothing'
COMPILER = 'the public functions import the compiler of torch'
COUNTS = 'a shadow of a result is copied'
PAUSE = 'version counters cannot be set back'
OPERATORS = 'operators that torch does not document are left as they are'
HISTORY = 'torch gives up the history of a view only with its graph'
PROFILES = 'a profile that the program takes itself is not seen'

NEEDS = {
    'test_graph_tracing.py': {'test_a_graph_computes_what_the_function_does[written]': WRITES,
                              'test_generators_and_their_states': RANDOM, 'test_nothing_is_kept': COUNTS},
    'test_graph_plan.py': {'test_modes_have_plans_of_their_own': RANDOM, 'test_a_trace_draws_no_random_numbers': RANDOM,
                           'test_a_first_run_is_that_of_the_trace': RANDOM,
                           'test_a_first_run_with_something_else_is_computed': RANDOM,
                           'test_a_trace_leaves_no_values_behind': RANDOM,
                           'test_a_first_call_does_not_import_the_compiler': COMPILER},
    'test_graph_few_classes.py': {'test_same_bits': OPERATORS},
    'test_graph_casts.py': {'test_casts_that_cancel': OPERATORS},
    'test_graph_sizes.py': {'test_others': COMPILER, 'test_first_steps_need_no_compiler': COMPILER,
                            'test_first_inference_needs_no_compiler': COMPILER},
    'test_autograd.py': {'test_views_are_carried_without_detach': HISTORY,
                         'test_the_checked_engine_computes_the_same': COMPILER},
    'test_autograd_function.py': {'test_thousands_of_steps_hold_no_graph': HISTORY},
    'test_ops_recurrent.py': {'test_lengths_are_not_read_by_the_host': WRITES},
    'test_deferred_results.py': {'test_writes_in_a_pause': PAUSE},
    'test_executor.py': {'test_plans_are_written_out': RANDOM, 'test_a_plan_computes_the_same_bits': RANDOM},
    'test_plan_between.py': {'test_networks_that_draw_wait_together': RANDOM},
    'test_trainer_learn.py': {'test_same_results': RANDOM, 'test_an_estimator_with_parts_of_ones_own': RANDOM,
                              'test_an_estimator_learns_by_such_steps': RANDOM,
                              'test_a_trainer_of_some_parameters': RANDOM,
                              'test_ctrl_c_leaves_arrays_that_can_be_looked_at': RANDOM},
    'test_profiler.py': {'test_another_profiler_runs': PROFILES, 'test_another_profiler_takes_over': PROFILES},
}


def reason(file, test):
    """Why a test is skipped; None if it is not."""
    known = NEEDS.get(file, {})
    return known.get(test) or known.get(test.partition('[')[0]) or known.get('*')

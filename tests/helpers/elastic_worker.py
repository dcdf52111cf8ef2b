"""A training job whose set of workers may change: it goes on from its last checkpoint with whoever is there.

    elastic_worker.py FOLDER STEPS [SECONDS]

Worker 0 writes a checkpoint after each step (network, optimizer, place in the data), keeps a copy of the one that a run
begins with in FOLDER/begun-N, and the end in FOLDER/end.params.  Each worker says what it does.
"""
import os
import pickle
import shutil
import sys
import time

import mxnet as mx
from mxnet import autograd, gluon

folder, steps = sys.argv[1], int(sys.argv[2])
pause = float(sys.argv[3]) if len(sys.argv) > 3 else 0.0
kv = mx.kv.create('dist_sync')
mx.random.seed(1)
net = gluon.nn.HybridSequential()
net.add(gluon.nn.Dense(16, activation='relu', in_units=8), gluon.nn.Dense(4, in_units=16))
net.initialize(mx.init.Xavier())
net.hybridize()
points = mx.nd.random.normal(shape=(203, 8))
classes = points[:, :4].argmax(axis=1)
data = gluon.data.ArrayDataset(points, classes)
loader = gluon.data.DataLoader(data, batch_sampler=gluon.data.ShardedBatchSampler(
    len(data), 8, kv.num_workers, kv.rank, shuffle=True, seed=7))
trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1, 'momentum': 0.9}, kvstore=kv)
loss_of = gluon.loss.SoftmaxCrossEntropyLoss()

done, newest = 0, os.path.join(folder, 'newest')
if os.path.exists(newest):
    begun = os.path.join(folder, os.readlink(newest))
    net.load_parameters(f'{begun}/net.params')
    trainer.load_states(f'{begun}/trainer.states')
    with open(f'{begun}/place', 'rb') as file:
        done, place = pickle.load(file)
    loader.load_state_dict(place)
    if kv.rank == 0:
        number = sum(name.startswith('begun') for name in os.listdir(folder))
        shutil.copytree(begun, os.path.join(folder, f'begun-{number}'))
print(f'begin {kv.rank} of {kv.num_workers} at {done}', flush=True)
kv.barrier()
while done < steps:
    for x, y in loader:
        with autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(len(x) * kv.num_workers)
        done += 1
        if kv.rank == 0:
            there = os.path.join(folder, f'step-{done}')
            shutil.rmtree(there, ignore_errors=True)
            os.makedirs(there)
            net.save_parameters(f'{there}/net.params')
            trainer.save_states(f'{there}/trainer.states')
            with open(f'{there}/place', 'wb') as file:
                pickle.dump((done, loader.state_dict()), file)
            os.symlink(f'step-{done}', f'{newest}.new')
            os.replace(f'{newest}.new', newest)
        kv.barrier()
        print(f'step {done} of {kv.rank} of {kv.num_workers}', flush=True)
        if done == steps:
            break
        time.sleep(pause)
if kv.rank == 0:
    net.save_parameters(os.path.join(folder, 'end.params'))
kv.barrier()
print(f'end {kv.rank} of {kv.num_workers}', flush=True)

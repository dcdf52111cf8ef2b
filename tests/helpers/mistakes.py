"""Mistakes that users make, and what they are told: a line each, `program | class of error | words of its message; ...`.

The class is the error's own or one that it derives from; UserWarning is for what MXNet 1.9.1 accepts.  test_mistakes.py runs
them in a folder with the files that `files` makes.
"""
# ruff: noqa: E501

MODULES = r"""
nd.ones((1<<40,1<<10)) | MXNetError | shape (1099511627776, 1024); not enough memory
nd.zeros((100000,100000,1000)) | MXNetError | shape (100000, 100000, 1000)
nd.random.uniform(shape=(1<<30,1<<20)) | MXNetError | not enough memory; 4.0 PiB
nd.arange(1e15) | MXNetError | not enough memory
mx.np.zeros((1<<40,1<<10)) | MXNetError | not enough memory; 4.0 PiB
nd.full((1<<40,1<<8),3) | MXNetError | shape (1099511627776, 256)
nd.empty((1<<45,)) | MXNetError | shape (35184372088832,)
nd.tile(nd.ones((1000,1000)),(1000000,1000)).wait_to_read() | MXNetError | operator tile; not enough memory
nd.dot(nd.ones((1<<22,1)),nd.ones((1,1<<22))).wait_to_read() | MXNetError | operator dot; not enough memory
nd.broadcast_to(nd.ones((1,)),(1<<40,)).wait_to_read() | MXNetError | broadcast_to; not enough memory
nd.ones((-5,3)) | MXNetError | negative length
nd.ones((1<<62,1<<62)) | MXNetError | shape (4611686018427387904, 4611686018427387904)
tr().step(0) | MXNetError | must be a positive number; batch_size
tr().step(-2) | UserWarning | batch_size
tr().step('4') | MXNetError | not '4'; must be a positive number; batch_size
tr().step(None) | MXNetError | must be a positive number; batch_size
gluon.Trainer(dense(in_units=2).collect_params(),'sgd',update_on_kvstore=False).update(0) | MXNetError | must be a positive number; batch_size
nd.ones((2.5,3)) | MXNetError | a tuple of ints; (2.5, 3)
nd.zeros((2.0,3)) | MXNetError | a tuple of ints; (2.0, 3)
nd.random.uniform(shape=(2.5,)) | MXNetError | shape=(2.5,); ints
mx.np.ones((2.5,3)) | TypeError | a tuple of ints; (2.5, 3)
nd.ones('23') | MXNetError | not '23'
nd.ones(None) | MXNetError | a tuple of ints; None
nd.ones((2,None)) | MXNetError | a tuple of ints; (2, None)
nd.array(None) | UserWarning | becomes nan
nd.array('abc') | TypeError | must be array; source_array
nd.array(['a','b']) | TypeError | must be array; source_array
nd.array({'a':1}) | TypeError | must be array; source_array
nd.array([[1,2],[3]]) | TypeError | must be array; source_array
nd.array(object()) | TypeError | must be array; source_array
nd.array([1,None]) | UserWarning | becomes nan
nd.array({1,2}) | TypeError | must be array; source_array
mx.io.NDArrayIter(onp.ones((4,2)),onp.ones(5),2) | MXNetError | softmax_label; 'softmax_label'; 'data'
mx.io.NDArrayIter(onp.ones((4,2)),onp.ones(3),2) | MXNetError | softmax_label; 'softmax_label'; 'data'
mx.cpu(-1) | UserWarning | cpu(-1)
mx.gpu(-1) | UserWarning | gpu(-1)
mx.cpu('a') | TypeError | not 'a'; must be an int
mx.cpu(1.5) | UserWarning | 1.5
mx.Context('tpu',0) | MXNetError | cpu_pinned; cpu_shared; 'tpu'
nd.ones((2,),ctx='cpu') | TypeError | not 'cpu'; must be a Context
nd.ones((2,),ctx=mx.gpu(99)) | MXNetError | MXNET_VIRTUAL_GPUS
mx.mod.Module(mlp()).fit(mx.io.NDArrayIter(X,Y,4),num_epoch=1,kvstore='foo') | UserWarning | no KVStore called 'foo'
mx.mod.Module(mlp(),context=[mx.cpu(0),mx.cpu(1)]).fit(mx.io.NDArrayIter(X,Y,4),num_epoch=1,kvstore='foo') | ValueError | no KVStore called 'foo'; local
mx.kv.create('foo') | ValueError | no KVStore called 'foo'; local
mx.kv.create(5) | TypeError | must be a str
mx.mod.Module(mlp()).fit(mx.io.NDArrayIter(X,Y,4),num_epoch=1,kvstore=5) | TypeError | must be a KVStore
mx.mod.Module(mlp()).fit(X,num_epoch=1) | TypeError | train_data must be a DataIter; numpy.ndarray; NDArrayIter
mx.mod.Module(mlp()).fit((X,Y),num_epoch=1) | TypeError | must be a DataIter; train_data; batch_size
mx.mod.Module(mlp()).fit(nd.array(X),num_epoch=1) | TypeError | must be a DataIter; train_data; batch_size
mx.mod.Module(mlp()).fit([1,2],num_epoch=1) | TypeError | must be a DataIter; train_data; batch_size
mx.mod.Module(mlp()).fit(None,num_epoch=1) | TypeError | must be a DataIter; train_data; batch_size
mx.mod.Module(mlp()).fit(gluon.data.DataLoader(gluon.data.ArrayDataset(X,Y),4),num_epoch=1) | TypeError | must be a DataIter; DataLoaderIter
mx.mod.Module(mlp()).fit(mx.io.NDArrayIter(X,Y,4)) | AssertionError | num_epoch
mx.mod.Module(mlp()).fit(mx.io.NDArrayIter(X,Y,4),num_epoch='3') | TypeError | not '3'; must be an int; num_epoch
mx.mod.Module(mlp()).fit(mx.io.NDArrayIter(X,Y,4),num_epoch=1,eval_metric='acuracy') | MXNetError | did you mean accuracy?; 'acuracy'
mx.mod.Module(mlp()).fit(mx.io.NDArrayIter(X,Y,4),num_epoch=1,optimizer='sgdd') | ValueError | did you mean sgd?; there is no optimizer called 'sgdd'
mx.mod.Module(mlp()).fit(mx.io.NDArrayIter(X,Y,4),num_epoch=1,optimizer_params={'learning_rat':0.1}) | TypeError | did you mean learning_rate?; 'learning_rat'
mx.mod.Module(mlp()).fit(mx.io.NDArrayIter(X,Y,4),num_epoch=1,optimizer_params={'learning_rate':'a'}) | TypeError | not 'a'; must be a number; learning_rate
mx.mod.Module(mlp()).fit(mx.io.NDArrayIter(X,Y,4),num_epoch=1,initializer='xaviero') | MXNetError | did you mean xavier?; there is no initializer called 'xaviero'
mx.mod.Module(mlp()).fit(mx.io.NDArrayIter(X,None,4),num_epoch=1) | ValueError | 0 labels and 1 predictions
mx.mod.Module(mlp()).fit(mx.io.NDArrayIter(X,Y,4,label_name='lbl'),num_epoch=1) | UserWarning | there is no argument 'lbl'.; label_shapes; label_names
mx.mod.Module(mlp()).fit(mx.io.NDArrayIter(X,Y,4,data_name='dat'),num_epoch=1) | ValueError | data_shapes; data_names; 'dat'
mx.mod.Module(mlp()).fit(mx.io.NDArrayIter(X,Y,4),eval_data=X,num_epoch=1) | TypeError | must be a DataIter; eval_data; batch_size
mx.mod.Module(mlp()).fit(mx.io.NDArrayIter(X,Y,4),num_epoch=1,batch_end_callback=5) | TypeError | must be a function or a list of them; batch_end_callback
mx.model.FeedForward(mlp(),num_epoch=1).fit([1,2],[3,4]) | TypeError | must be a DataIter
mod().score(X,'acc') | TypeError | must be a DataIter; eval_data; batch_size
mod().predict([1,2]) | ValueError | DataIter; list
mod().forward(mx.io.DataBatch([A(4,6)],[A(4)])) | MXNetError | data of the batch has shape (4, 6); bound for (4, 5); fc1_weight
mod().forward_backward(mx.io.DataBatch([A(4,6)],[A(4)])) | MXNetError | data of the batch has shape (4, 6); bound for (4, 5); fc1_weight
mod().forward_backward(mx.io.DataBatch([A(4,5)],[A(3)])) | ValueError | label softmax_label; (3,); must have (4,)
mod().forward_backward(mx.io.DataBatch([A(4,5)],[A(4,2)])) | ValueError | label softmax_label; (4, 2); must have (4,)
mod().forward(A(4,5)) | TypeError | DataBatch; NDArray
mod().forward(mx.io.DataBatch([X[:4]],[Y[:4]])) | TypeError | must be an NDArray; 'data'
mod().forward(mx.io.DataBatch([A(4,5),A(4,5)],[A(4)])) | ValueError | 2 arrays of data; the module takes data
mod().forward(None) | TypeError | DataBatch; None
mod().set_params({'fc1_weight':A(4,6),'fc1_bias':A(4),'fc2_weight':A(3,4),'fc2_bias':A(3)},{}) | ValueError | fc1_weight has shape (4, 6)
mod().set_params({'fc1_weight':A(4,5)},{}) | RuntimeError | fc1_bias; allow_missing
mod().set_params({'fc1_weight':onp.ones((4,5)),'fc1_bias':A(4),'fc2_weight':A(3,4),'fc2_bias':A(3)},{}) | TypeError | must be an NDArray; fc1_weight
mod().set_params(None,None) | RuntimeError | fc1_bias
mod().set_params([A(4,5)],{}) | TypeError | must be a dict of names and NDArrays; arg_params
mod().set_params({'fc1_weight':A(4,6)},{},allow_missing=True) | ValueError | fc1_weight has shape (4, 6)
mod().init_params(arg_params={'fc1_weight':A(4,6),'fc1_bias':A(4),'fc2_weight':A(3,4),'fc2_bias':A(3)},force_init=True) | ValueError | fc1_weight has shape (4, 6)
mlp().simple_bind(mx.cpu(),dta=(4,5)) | MXNetError | did you mean data?; there is no argument 'dta'; simple_bind
mlp().simple_bind(mx.cpu(),data=(4,5),softmax_lable=(4,)) | UserWarning | did you mean softmax_label?; there is no argument 'softmax_lable'; simple_bind
mlp().simple_bind(mx.cpu()) | MXNetError | simple_bind; fc1_weight; fc2_weight
mlp().simple_bind('cpu',data=(4,5)) | TypeError | not 'cpu'; must be a Context; simple_bind
mlp().simple_bind(mx.cpu(),grad_req='wite',data=(4,5)) | MXNetError | not 'wite'; grad_req; 'write'
mlp().bind(mx.cpu(),{'data':A(4,5)}) | ValueError | fc1_weight; fc1_bias; fc2_weight
mlp().bind(mx.cpu(),{'data':A(4,5),'fc1_weight':A(4,6),'fc1_bias':A(4),'fc2_weight':A(3,4),'fc2_bias':A(3),'softmax_label':A(4)}).forward() | MXNetError | node fc1; data has 5 values; weight takes 6
mlp().bind(mx.cpu(),[A(4,5)]) | ValueError | fc1_weight; fc1_bias; fc2_weight
(sym.var('a')+sym.var('b')).eval(ctx=mx.cpu(),a=A(2)) | ValueError | b missing
(sym.var('a')+sym.var('b')).eval(ctx=mx.cpu(),a=A(2),b=A(3)) | MXNetError | lhs has shape (2,); elemwise_add; broadcast_add
mlp().infer_shape(dta=(4,5)) | MXNetError | did you mean data?; there is no argument dta; fc1_weight
mlp().simple_bind(mx.cpu(),data=(4,5)).forward(dta=A(4,5)) | TypeError | did you mean data?; there is no argument dta; fc1_weight
mlp().simple_bind(mx.cpu(),data=(4,5)).forward(data=A(4,6)) | ValueError | data has shape (4, 6)
mlp().simple_bind(mx.cpu(),data=(4,5)).copy_params_from({'zz':A(1)}) | ValueError | no argument zz; fc1_weight
mx.mod.Module(mlp(),data_names=['dat']) | ValueError | data_names; softmax_label; 'dat'
mx.mod.Module('net') | TypeError | must be a Symbol
mx.mod.Module(mlp(),context='cpu') | TypeError | must be a Context; 'cpu'
mx.mod.Module(mlp()).bind([('dat',(4,5))]) | ValueError | data_shapes; data_names; 'dat'
mx.mod.Module(mlp()).bind((4,5)) | TypeError | a list of (name, shape); (4, 5)
mx.mod.Module(mlp()).bind('data') | TypeError | not 'data'
mx.mod.Module(mlp()).bind([('data',4)]) | TypeError | must be a tuple of ints
mx.mod.Module(mlp()).forward(mx.io.DataBatch([A(4,5)])) | AssertionError | not ready; bind
mx.mod.Module(mlp()).update() | AssertionError | not ready; bind
mx.mod.Module.load('nothere',1) | MXNetError | nothere-symbol.json
mx.model.load_checkpoint('nothere','a') | TypeError | not 'a'; must be an int
"""

GLUON = r"""
L.CTCLoss()(A(2,20,4),A(3,4)) | MXNetError | label has (3, 4)
L.CTCLoss()(A(20,4),A(3,4)) | MXNetError | label has (3, 4)
L.TripletLoss()(A(4,3),A(4,3),A(5,3)) | MisfitLabel | negative has shape (5, 3); prediction of shape (4, 3)
L.CosineEmbeddingLoss()(A(4,3),A(4,3),A(5)) | MisfitLabel | label has shape (5,); prediction of shape (4, 3)
L.CosineEmbeddingLoss()(A(4,3),A(5,3),A(4)) | MisfitLabel | input has shape (5, 3); prediction of shape (4, 3)
L.SDMLLoss()(A(4,3),A(5,3)) | AssertionError | x1 and x2; (4, 3) and (5, 3)
L.L2Loss()(A(4,3),onp.ones((4,3))) | TypeError | must be an NDArray
L.L2Loss()(A(4,3),None) | TypeError | must be an NDArray
L.L2Loss()(A(4,3)) | TypeError | a prediction with a label
L.L2Loss()(A(4,3),A(4,3),A(5)) | MisfitLabel | sample_weight has shape (5,); prediction of shape (4, 3); axis 1
init(L.L2Loss(),True)(A(4,3),A(5,3)) | MisfitLabel | label has shape (5, 3); prediction of shape (4, 3)
nd.SoftmaxOutput(A(4,3),A(5)) | MXNetError | label has shape (5,)
nd.SoftmaxOutput(A(4,3),A(4,2)) | MXNetError | label has shape (4, 2)
nd.LinearRegressionOutput(A(4,3),A(5,3)) | MXNetError | label has shape (5, 3); shape (4, 3)
M.Accuracy().update([A(5)],[A(4,3)]) | ValueError | labels of shape (5,); predictions of shape (4, 3)
M.Accuracy().update(A(5),A(4,3)) | ValueError | labels of shape (5,); predictions of shape (4, 3)
M.Accuracy().update([A(4),A(4)],[A(4,3)]) | ValueError | 2 labels and 1 predictions
M.Accuracy().update([A(4,2)],[A(4,3)]) | ValueError | labels of shape (4, 2); predictions of shape (4, 3)
M.TopKAccuracy(2).update([A(5)],[A(4,3)]) | ValueError | labels of shape (5,); predictions of shape (4, 3)
M.TopKAccuracy(1) | AssertionError | top_k
M.TopKAccuracy(2).update([A(4)],[A(4)]) | AssertionError | (samples, classes); not (4,)
M.F1().update([A(5)],[A(4,2)]) | ValueError | labels of shape (5,); predictions of shape (4, 2)
M.MCC().update([A(5)],[A(4,2)]) | ValueError | labels of shape (5,); predictions of shape (4, 2)
M.MAE().update([A(5)],[A(4)]) | ValueError | labels of shape (5,); predictions of shape (4,)
M.MSE().update([A(5,2)],[A(4,2)]) | ValueError | labels of shape (5, 2); predictions of shape (4, 2)
M.CrossEntropy().update([A(5)],[A(4,3)]) | AssertionError | labels of shape (5,); predictions of shape (4, 3)
M.NegativeLogLikelihood().update([A(5)],[A(4,3)]) | AssertionError | labels of shape (5,); predictions of shape (4, 3)
M.Perplexity(None).update([A(5)],[A(4,3)]) | AssertionError | labels of shape (5,); predictions of shape (4, 3)
M.PearsonCorrelation().update([A(5)],[A(4)]) | ValueError | labels of shape (5,); predictions of shape (4,)
M.PCC().update([A(5)],[A(4,3)]) | ValueError | labels of shape (5,); predictions of shape (4, 3)
M.Accuracy().update(None,None) | ValueError | labels are None
M.CompositeEvalMetric(['acc','foo']) | MXNetError | no metric called 'foo'
M.create(5) | MXNetError | must be a name
dense(3,in_units=5)(A(4,6)) | MXNetError | (Dense); data has 6 values; weight takes 5
twice(seq(True),A(4,5),A(4,6)) | MXNetError | dense0; data has 6 values; weight takes 5
seq()(A(4,6)) | MXNetError | dense0; data has 6 values; weight takes 5
rec(lambda: seq(True)(A(4,6))) | MXNetError | dense0; data has 6 values; weight takes 5
twice(dense(3),A(4,5),A(4,6)) | MXNetError | (Dense); data has 6 values; weight takes 5
gluon.nn.Dense(3,in_units=5)(A(4,5)) | RuntimeError | has not been initialized; initialize()
dense(3)(X) | ValueError | not ndarray; mx.nd.array
dense(3)([1,2]) | ValueError | not list; mx.nd.array
dense(3)(None) | ValueError | not NoneType
dense(3,in_units=5)(A(4,5).astype('int32')) | MXNetError | data is int32; weight is float32; astype
dense(3,in_units=5)(A(4,5).astype('float64')) | MXNetError | data is float64; weight is float32
seq()(A(4,5).astype('float16')) | MXNetError | dense0 (Dense); data is float16
dense(3,activation='rellu')(A(2,2)) | ValueError | act_type; 'rellu'; 'relu'
init(gluon.nn.Conv2D(4,3,in_channels=3))(A(1,4,8,8)) | MXNetError | weight has shape (4, 3, 3, 3)
twice(init(gluon.nn.Conv2D(4,3,in_channels=3),True),A(1,3,8,8),A(1,4,8,8)) | MXNetError | weight has shape (4, 3, 3, 3)
init(gluon.nn.Conv2D(4,5,in_channels=3))(A(1,3,2,2)) | MXNetError | kernel (5, 5); larger than the data
init(gluon.nn.Conv2D(4,3))(A(4,5)) | ValueError | data has shape (4, 5)
init(gluon.nn.Conv1D(4,3))(A(1,3,8,8)) | ValueError | data has shape (1, 3, 8, 8)
gluon.nn.MaxPool2D(5)(A(1,3,2,2)) | MXNetError | window is larger than the data
init(gluon.nn.BatchNorm(in_channels=3))(A(2,4,5,5)) | MXNetError | gamma has shape (3,); beta has shape (3,); moving_mean has shape (3,)
init(gluon.nn.LayerNorm(in_channels=3))(A(2,4)) | MXNetError | gamma has shape (3,)
init(gluon.nn.Embedding(5,3))('a') | ValueError | not str
gluon.nn.Dropout(1.5)(A(2,2)) | MXNetError | (Dropout): operator Dropout: argument p=1.5
rec(lambda: gluon.nn.Dropout(1.5)(A(2,2))) | MXNetError | (Dropout): operator Dropout: argument p=1.5
init(gluon.rnn.LSTM(4))(A(5,2,3),A(1,2,4)) | ValueError | shape (5, 2, 3)
init(gluon.rnn.LSTM(4))(A(5,2,3),[A(1,3,4),A(1,3,4)]) | ValueError | shape (5, 2, 3)
init(gluon.rnn.LSTM(4))(A(5,2,3),[A(1,2,4)]) | ValueError | shape (5, 2, 3)
init(gluon.rnn.LSTM(4))(A(5,2,3),[A(2,4),A(2,4)]) | ValueError | shape (5, 2, 3)
twice(init(gluon.rnn.LSTM(4)),A(5,2,3),A(5,2,6)) | MXNetError | parameters has shape (144,)
init(gluon.rnn.LSTM(4))(A(5,3)) | ValueError | three axes; (5, 3)
init(gluon.rnn.GRU(4))(A(5,2,3),[A(1,2,5)]) | ValueError | shape (5, 2, 3)
init(gluon.rnn.LSTM(4),True)(A(5,2,3),[A(1,3,4),A(1,3,4)]) | ValueError | shape (5, 2, 3)
init(gluon.rnn.LSTMCell(4))(A(2,3),[A(2,5),A(2,5)]) | ValueError | shape (2, 3); begin_state; batch_size
init(gluon.rnn.LSTMCell(4))(A(2,3),[A(2,4)]) | ValueError | shape (2, 3); begin_state; batch_size
init(gluon.rnn.LSTMCell(4))(A(2,3),[A(3,4),A(3,4)]) | ValueError | shape (2, 3); begin_state; batch_size
init(gluon.rnn.LSTMCell(4))(A(2,3)) | TypeError | (LSTMCell) was called with 1 input; takes inputs, states
init(gluon.rnn.GRUCell(4))(A(2,3),[A(3,4)]) | ValueError | shape (2, 3); begin_state; batch_size
init(gluon.rnn.LSTMCell(4)).unroll(5,A(2,3,4),layout='NTC') | ValueError | axis 1; shape (2, 3, 4)
init(gluon.rnn.LSTMCell(4)).unroll(5,A(2,5,4),layout='XYZ') | ValueError | XYZ'; 'NTC'; 'TNC'
gluon.rnn.LSTM(4,layout='NCT') | AssertionError | not 'NCT'; 'TNC'; 'NTC'
nd.RNN(A(5,2,3),A(7),A(1,2,4),A(1,2,4),state_size=4,num_layers=1,mode='lstm') | MXNetError | parameters has shape (7,)
gluon.Trainer(dense(in_units=2).collect_params(),'adamm') | ValueError | did you mean adam?; there is no optimizer called 'adamm'
gluon.Trainer(dense(in_units=2),'sgd') | ValueError | must be a list or dict of Parameters
gluon.Trainer(None,'sgd') | ValueError | must be a list or dict of Parameters
gluon.Trainer(dense(in_units=2).collect_params(),'sgd',{'lr':1}) | TypeError | no argument 'lr'; learning_rate
gluon.Trainer(dense(in_units=2).collect_params(),'sgd').step(1) | UserWarning | ignore_stale_grad
tr().load_states('nothere') | MXNetError | nothere
tr().set_learning_rate('a') | TypeError | not 'a'; must be a number; set_learning_rate
A(2).backward() | MXNetError | attach_grad
rec(lambda: A(2)).backward(A(3)) | MXNetError | attach_grad
A(2).attach_grad('wite') | MXNetError | not 'wite'; grad_req; 'write'
gluon.Parameter('w',shape=(2,3)).data() | RuntimeError | w' has not been initialized
init(gluon.nn.Dense(3,in_units=2)).weight.set_data(A(2,2)) | AssertionError | shape (3, 2)
dense(3,in_units=2).load_parameters('nothere') | MXNetError | nothere
dense(3,in_units=2).collect_params()['zz'] | KeyError | no Parameter 'zz'
gluon.nn.Dense(3).initialize(ctx='cpu') | TypeError | not 'cpu'; must be a Context
gluon.nn.Dense(3).initialize('xaviero') | MXNetError | did you mean xavier?; there is no initializer called 'xaviero'
gluon.utils.split_and_load(A(5,2),[mx.cpu(0),mx.cpu(1)]) | ValueError | axis 0; shape (5, 2); even_split
gluon.utils.split_and_load(A(2,2),[]) | ValueError | must be a list of one Context or more; split_and_load; ctx_list
gluon.utils.clip_global_norm([],1) | ValueError | clip_global_norm
gluon.data.DataLoader(gluon.data.ArrayDataset(X,Y)) | ValueError | batch_size; batch_sampler
gluon.data.ArrayDataset(X,Y[:5]) | AssertionError | 8; 5
list(gluon.data.DataLoader([1,'a'],2)) | TypeError | batchify_fn
gluon.data.DataLoader(gluon.data.ArrayDataset(X,Y),0) | ValueError | must be a number from 1 on; batch_size
list(gluon.data.DataLoader(gluon.data.SimpleDataset([onp.ones(2),onp.ones(3)]),2)) | TypeError | batchify_fn
gluon.SymbolBlock.imports('nothere.json',['data']) | MXNetError | nothere.json
"""

OTHERS = r"""
A(2,3)+A(4) | MXNetError | axis 1; broadcast_add
inpl() | MXNetError | axis 1; broadcast_add
nd.dot(A(2,3),A(2,3)) | MXNetError | (2, 3) and (2, 3) cannot be multiplied; 3 columns
nd.dot(A(3),A(4)) | MXNetError | lengths 3 and 4
nd.dot(A(2,3),A(4)) | MXNetError | axis 1; axis 0; shape (2, 3)
nd.batch_dot(A(2,3,4),A(2,3,4)) | MXNetError | batch_dot; (2, 4); (2, 3)
nd.batch_dot(A(2,3,4),A(3,4,5)) | MXNetError | lhs has shape (2, 3, 4); batch_dot
nd.concat(A(2,3),A(3,4),dim=0) | MXNetError | number 1 has 4; 3
nd.concat(A(2,3),A(3),dim=0) | MXNetError | same number of axes
nd.concat(A(2,3),A(2,3),dim=5) | OutOfRange | axis 5; num_args
nd.stack(A(2,3),A(3,2)) | MXNetError | (2, 3); (3, 2)
A(2,3).reshape((4,2)) | ShapeMismatch | shape (2, 3)
A(2,3).reshape((-1,-1)) | ShapeMismatch | shape (2, 3)
A(2,3).transpose((0,2)) | OutOfRange | axis 2
nd.expand_dims(A(2),axis=5) | OutOfRange | axis 5; expand_dims
nd.squeeze(A(2,3),axis=0) | MXNetError | shape (2, 3)
A(2,3).sum(axis=4) | MXNetError | axis 4; shape (2, 3)
nd.argmax(A(2,3),axis=4) | MXNetError | axis 4; shape (2, 3)
nd.softmax(A(2,3),axis=4) | OutOfRange | axis 4
nd.slice_axis(A(2,3),axis=5,begin=0,end=1) | OutOfRange | axis 5; slice_axis
A(2,3)[5] | IndexError | [5]; shape (2, 3); axis 0 has length 2
A(2,3)[0,7] | IndexError | index 7; axis 1 has length 3
A(2,3)['a'] | ValueError | not be indexed with 'a'
A(2,3)[1.5] | ValueError | 1.5; float
A(2,3)[nd.array([7])] | IndexError | axis 0; shape (2, 3)
A(2,3)[0,0,0] | IndexError | [0, 0, 0]; 2 axes
asg(0,A(5)) | ValueError | axis 0; shape (5,); shape (2, 3)
asg(0,'a') | TypeError | cannot store a str
asg(7,1) | IndexError | axis 0; shape (2, 3)
nd.take(A(2,3),nd.array([5]),mode='raise') | OutOfRange | an index is out of range
nd.take(A(2,3),nd.array([5]),mode='rais') | MXNetError | rais'; 'clip'; 'raise'
A(2).astype('flot32') | MXNetError | flot32'
nd.ones((2,),dtype='foo') | MXNetError | foo'
A(2).asscalar() | ValueError | shape (2,)
bool(A(2)) | ValueError | the truth value of an NDArray with sever
float(A(2)) | ValueError | shape (2,)
int(A(2,2)) | ValueError | shape (2, 2)
A(2)**'a' | TypeError | the str 'a'
A(2)+'a' | TypeError | the str 'a'
A(2)+None | TypeError | not None
A(2)+[1,2] | TypeError | a list
A(2)+onp.ones(2) | TypeError | numpy.ndarray of shape (2,)
A(2)+A(2).astype('float64') | MXNetError | lhs is float32; rhs is float64
A(2).copyto(A(3)) | ValueError | shape (2,)
A(2).copyto('a') | TypeError | copyto; str
A(2).as_in_context('gpu') | TypeError | Context; 'gpu'; mx.gpu()
nd.exp(A(2),out=A(3)) | MXNetError | out has shape (3,)
nd.softmax(A(2),axes=1) | MXNetError | did you mean axis?
nd.exp('a') | TypeError | must be an NDArray; the str 'a'; data
nd.exp([1,2]) | TypeError | must be an NDArray; a list; mx.nd.array
nd.exp(None) | MXNetError | data is missing
nd.Convolution(A(1,3,8,8),A(4,3,3,3),A(4),num_filter=4) | MXNetError | kernel is missing
nd.Convolution(A(1,3,8,8),A(4,3,3,3),A(5),kernel=(3,3),num_filter=4) | MXNetError | bias has shape (5,); shape (4, 3, 3, 3); num_filter
nd.Pooling(A(1,3,8,8),kernel=(2,2),pool_type='mx') | MXNetError | pool_type; 'mx'; 'avg'
nd.Activation(A(2),act_type='foo') | MXNetError | act_type; 'foo'; 'relu'
nd.Embedding(nd.array([9]),A(3,2),input_dim=4,output_dim=2) | MXNetError | weight has shape (3, 2); input_dim; output_dim
nd.one_hot(nd.array([1]),-3) | MXNetError | depth=-3
nd.random.uniform(5,1) | MXNetError | must be at least low; _random_uniform
nd.random.normal(0,-1,shape=(2,)) | MXNetError | must be positive; _random_normal
nd.random.randint(5,2) | MXNetError | must be above low; _random_randint
mx.random.seed('a') | ValueError | not 'a'; must be an int
nd.arange(0,5,0) | MXNetError | must be at least 1
nd.linspace(0,1,-3) | MXNetError | num=-3
nd.topk(A(2,3),k=9) | MXNetError | k=9; 3 elements
nd.sort(A(2,3),axis=7) | OutOfRange | axis 7
nd.where(A(2),A(3),A(3)) | MXNetError | (2,), (3,), (3,)
nd.where(A(2),1,0) | TypeError | must be an NDArray; the int
nd.linalg.inverse(nd.zeros((2,2))).wait_to_read() | MXNetError | singular
nd.linalg.inverse(A(2,3)) | MXNetError | A has shape (2, 3); must be a square matrix; linalg_inverse
nd.linalg.potrf(nd.array([[1,2],[2,1]])) | MXNetError | positive-definite
nd.linalg.gemm2(A(2,3),A(2,3)) | MXNetError | cannot be multiplied
nd.save('x','abc') | ValueError | array
nd.save('/nonexistent/x',A(2)) | MXNetError | /nonexistent/x
nd.load('junk.params') | MXNetError | junk.params
nd.load(5) | TypeError | file name; int
sym.load('junk.json') | MXNetError | junk.json: byte 5: not a symbol
npm(lambda: np.ones((2,3))+np.ones(4)) | MXNetError | axis 1; _npi_add
npm(lambda: np.dot(np.ones((2,3)),np.ones((2,3)))) | MXNetError | a has shape (2, 3); _np_dot
npm(lambda: np.matmul(np.ones((2,3)),np.ones((2,3)))) | MXNetError | a has shape (2, 3); _npi_matmul
npm(lambda: np.ones((2,3))@np.ones((4,))) | MXNetError | a has shape (2, 3); _npi_matmul
npm(lambda: np.concatenate([np.ones((2,3)),np.ones((3,4))])) | MXNetError | number 1 has 4
npm(lambda: np.stack([np.ones((2,3)),np.ones((3,2))])) | MXNetError | (2, 3); (3, 2)
npm(lambda: np.ones((2,3)).reshape(4,2)) | MXNetError | shape (2, 3)
npm(lambda: np.ones((2,3))[5]) | IndexError | [5]; shape (2, 3); axis 0 has length 2
npm(lambda: np.ones((2,3)).sum(axis=5)) | MXNetError | axis 5; shape (2, 3); _np_sum
npm(lambda: np.einsum('ij,jk->ik',np.ones((2,3)),np.ones((2,3)))) | MXNetError | axis j has length 2; operand 1; length 3
npm(lambda: np.tensordot(np.ones((2,3)),np.ones((2,3)),1)) | MXNetError | 3 and 2
npm(lambda: np.split(np.ones(5),2)) | ValueError | length 5; 2 equal parts
npm(lambda: np.linalg.inv(np.ones((2,3)))) | MXNetError | A has shape (2, 3); must be a square matrix; linalg_inverse
npm(lambda: np.where(np.ones(2)>0,np.ones(3),np.ones(3))) | MXNetError | axis 0; _npi_where
npm(lambda: np.random.normal(0,-1,size=(2,))) | BadParameter | must be at least 0; _npi_normal
npm(lambda: np.random.choice(3,5,replace=False)) | BadParameter | 5 of 3
npm(lambda: np.broadcast_to(np.ones(3),(2,4))) | MXNetError | shape (3,); _npi_broadcast_to
npm(lambda: np.ones(2,dtype='foo')) | MXNetError | foo'
npm(lambda: np.expand_dims(np.ones(2),5)) | OutOfRange | axis 5; expand_dims
npm(lambda: np.ones((2,3)).T.dot(np.ones(3))) | MXNetError | a has shape (3, 2); _np_dot
npm(lambda: npx.fully_connected(np.ones((2,3)),np.ones((4,5)),np.ones(4),num_hidden=4)) | MXNetError | data has 3 values; weight takes 5
(sym.var('a')+sym.var('b')).infer_shape(a=(2,3),b=(4,)) | MXNetError | (2, 3); (4,)
sym.var(5) | TypeError | must be a string
sym.FullyConnected(sym.var('a')) | MXNetError | num_hidden
sym.FullyConnected(sym.var('a'),num_hidden='x') | MXNetError | num_hidden
sym.exp(A(2)) | TypeError | must be a Symbol
sym.Group([1,2]) | TypeError | symbols
mlp()['zz'] | ValueError | there is no output 'zz'
mlp().get_internals()['zz_output'] | ValueError | no output 'zz_output'; did you mean
bool(sym.var('a')) | NotImplementedForSymbol | truth value of a Symbol; F.where
mlp()(dta=sym.var('x')) | MXNetError | no variable dta
mlp().infer_shape(data=(4,5),fc1_weight=(4,6)) | MXNetError | fc1_weight
mlp().save('/nonexistent/x') | MXNetError | /nonexistent/x
mlp()[3] | IndexError | output 3
mx.io.CSVIter(data_csv='nothere.csv',data_shape=(2,),batch_size=2) | MXNetError | nothere.csv
mx.io.CSVIter(data_csv='junk.csv',data_shape=(2,),batch_size=2).next() | MXNetError | line 1; 'a'
mx.io.CSVIter(data_csv='junk.csv',batch_size=2) | MXNetError | data_shape
mx.io.MNISTIter(image='nothere') | MXNetError | nothere
mx.io.ImageRecordIter(path_imgrec='junk.rec',data_shape=(3,8,8),batch_size=2) | MXNetError | junk.rec; byte 0
mx.io.ImageRecordIter(path_imgrec='nothere.rec',data_shape=(3,8,8),batch_size=2) | MXNetError | nothere.rec
mx.io.NDArrayIter(X,Y,0) | ValueError | must be positive; batch_size
mx.io.NDArrayIter(X,Y,'4') | TypeError | not '4'; must be an int; batch_size
mx.io.NDArrayIter(None) | ValueError | data'
mx.io.NDArrayIter('abc') | TypeError | must be an NDArray; csr_matrix; 'data'
mx.io.NDArrayIter(X,Y,4,last_batch_handle='keep') | ValueError | not 'keep'; must be one of; last_batch_handle
mx.io.NDArrayIter({'a':X,'b':X[:3]}) | MXNetError | b' has 3 examples
mx.io.PrefetchingIter(5) | TypeError | DataIter; int
mx.io.ResizeIter(5,3) | TypeError | DataIter; int
R().read_idx(5) | NoRecord | no record with the key 5; 0, 1, 2
R().read_idx('a') | NoRecord | no record with the key 'a'
R().seek(9) | NoRecord | no record with the key 9
mx.recordio.MXRecordIO('a.rec','x') | ValueError | not 'x'
R().write_idx(7,b'a') | MXNetError | opened with flag 'r'
mx.recordio.MXRecordIO('nothere','r') | MXNetError | nothere
mx.recordio.unpack(b'abc') | MXNetError | 24 bytes; 3
mx.recordio.MXRecordIO('junk.rec','r').read() | DamagedRecord | junk.rec
mx.image.imread('nothere.jpg') | MXNetError | nothere.jpg
mx.image.imread('junk.jpg') | MXNetError | junk.jpg; 5 bytes
mx.image.imdecode(b'') | MXNetError | no bytes
mx.image.imdecode('abc') | ValueError | must be bytes
mx.image.imresize(A(8,8,3),0,4) | MXNetError | must be at least 1
mx.image.imresize(A(8,8),4,4) | MXNetError | src has shape (8, 8)
mx.image.ImageIter(2,(3,8,8)) | ValueError | path_imgrec; path_imglist
mx.image.ImageIter(2,(8,8,3),imglist=[[0,'a.jpg']],path_root='f') | ValueError | data_shape
mx.image.ImageIter(1,(3,8,8),imglist=[[0,'nothere.jpg']],path_root='f').next() | MXNetError | nothere.jpg
mx.image.color_normalize(A(8,8,3),A(5)) | MXNetError | 3; 5
mx.optimizer.create('foo') | ValueError | no optimizer called 'foo'; sgd
mx.optimizer.create('sgd',momentun=0.9) | TypeError | did you mean momentum?
mx.optimizer.SGD().update(0,A(2),A(3),None) | MXNetError | weight 0; (2,); (3,)
mx.optimizer.Adam().update(0,A(2),A(2),None) | MXNetError | weight 0; 2 array(s)
mx.optimizer.SGD(learning_rate='a') | TypeError | not 'a'; must be a number; learning_rate
mx.lr_scheduler.FactorScheduler(0) | ValueError | must be at least 1
mx.lr_scheduler.MultiFactorScheduler([5,3]) | ValueError | increase; [5, 3]
mx.lr_scheduler.FactorScheduler(5,2.0) | ValueError | must be at most 1
mx.init.create('foo') | MXNetError | no initializer called 'foo'
mx.init.Xavier(rnd_type='foo')(mx.init.InitDesc('a_weight'),A(2,2)) | ValueError | not 'foo'; rnd_type; 'uniform'
mx.init.Xavier()(mx.init.InitDesc('a_weight'),A(2)) | ValueError | a_weight has shape (2,)
kvl().pull('b',out=A(2,2)) | MXNetError | key 'b'; init
kvl().push('a',A(3)) | MXNetError | key 'a'; (3,); (2, 2)
kvl().init('a',A(2,2)) | MXNetError | key 'a' has a value already
kvl().pull('a',out=A(3)) | MXNetError | key 'a'; (2, 2); (3,)
kvl().set_optimizer('sgd') | TypeError | set_optimizer
kvl().set_gradient_compression({'type':'3bit'}) | NotImplementedError | set_gradient_compression; dist_sync; 'local'
kvl().save_optimizer_states('s') | AssertionError | save_optimizer_states; set_optimizer
mx.callback.do_checkpoint(5)(0,mlp(),{},{}) | TypeError | file name; int
mx.viz.print_summary(5) | TypeError | print_summary
mx.profiler.set_config(foo=1) | MXNetError | unknown argument foo
mx.model.save_checkpoint('/nonexistent/x',1,mlp(),{},{}) | MXNetError | /nonexistent/x-symbol.json
mx.model.save_checkpoint('c',1,mlp(),[A(2)],{}) | TypeError | must be a dict of names and NDArrays; save_checkpoint; arg_params
"""

NEWCOMERS = r"""
nn.HybridSequential.add(nn.Dense(3), nn.Dense(2)) | TypeError | add was called on a class; parentheses
nn.HybridSequential.initialize(ctx=mx.cpu()) | TypeError | initialize was called on a class; parentheses
nn.HybridSequential().append(nn.Dense(3)) | AttributeError | append; Use add(layer)
nn.MaxPool2D(A(1, 1, 4, 4)) | TypeError | MaxPool2D; pool_size must be; an NDArray; is a class; block(x)
L.SoftmaxCrossEntropyLoss(A(2, 3), A(2)) | TypeError | axis must be an int, not an NDArray; is a class; block(x)
L.L2Loss()(A(2), [1, 2]) | TypeError | the label must be an NDArray, not a list; mx.nd.array
L.SoftmaxCrossEntropyLoss()(A(4, 3), A(4, 3)) | MXNetError | (4, 3); (4,); one-hot; sparse_label=False
L.SoftmaxCrossEntropyLoss()(A(4), A(4, 3)) | MXNetError | (4, 3); the prediction is the first argument
sym.var('x')[:, 0] | TypeError | must be an int, a name or a slice; slice_axis
M.Accuracy().update(A(2, 3), A(2)) | ValueError | shape (2,); labels first
A(2, 3).asscalar() | ValueError | (2, 3); mean(); asnumpy()
nd.random.uniform((4, 5)) | ValueError | low is a tuple; shape=(4, 5)
unlabelled().init_params() | ValueError | softmax_label; label_names=['softmax_label']
unlabelled().set_params(*mod().get_params()) | RuntimeError | softmax_label; label_names=['softmax_label']
nn.Sequential(nn.Dense(3), nn.Dense(2)) | TypeError | prefix must be a str; a Dense; net.add(
nn.Sequential().add([nn.Dense(3)]) | TypeError | Sequential; a list; add(*blocks)
nn.HybridSequential().add(nn.Dense) | ValueError | the class Dense; Dense(...)
nn.HybridSequential().add(nd.relu) | ValueError | a function; HybridLambda
nn.HybridSequential().add(nn.Sequential()) | ValueError | use HybridSequential
nn.Dense(3, nn.Activation('relu')) | TypeError | Dense; activation must be a str; an Activation
nn.Dense('10') | TypeError | dense; shape; the str '10'
nn.Dense([3]) | TypeError | Dense; units must be an int; a list
nn.Dropout('0.5') | TypeError | Dropout; rate must be a number; '0.5'
nn.Embedding('a', 3) | TypeError | Embedding; input_dim must be an int; 'a'
nn.LeakyReLU('a') | TypeError | LeakyReLU; alpha must be a number; 'a'
nn.Activation('ReLU')(A(2)) | MXNetError | act_type='ReLU'; did you mean relu?
gluon.rnn.LSTM('a') | TypeError | LSTM; hidden_size must be an int
init(nn.Conv2D(8, 3, strides=0))(A(1, 3, 8, 8)) | ValueError | stride=(0, 0) must be positive
init(nn.Conv2D(8, 3, padding=-1, in_channels=3))(A(1, 3, 8, 8)) | MXNetError | pad=(-1, -1) must not be negative
init(nn.Conv2D(8, 3, dilation=0, in_channels=3))(A(1, 3, 8, 8)) | MXNetError | dilate=(0, 0) must be positive
dense(3, in_units=2)(A(2, 2), A(2, 2)) | TypeError | (Dense) was called with 2 inputs; takes x
dense(3, in_units=2)() | TypeError | (Dense) was called with 0 inputs; takes x
dense(3, in_units=2).collect_params('*weight') | error | select='*weight'; '.*weight'
dense(3, in_units=2).collect_params().setattr('grad_rek', 'null') | UserWarning | 'grad_rek'; did you mean grad_req?
dense(3, in_units=2).parameters() | AttributeError | 'parameters'; collect_params()
gluon.nn.Dense(3).collect_params().initialize(ctx=5) | TypeError | ctx must be a Context; 5
dense(3, in_units=2).weight.set_data(5) | TypeError | data must be an NDArray; the int 5
seq()[7] | IndexError | HybridSequential has 2 layers; 7
seq()['a'] | TypeError | int or a slice; 'a'
hybrid('hybrid_forward(self, x)', 'x')(A(2)) | TypeError | F as its first argument; hybrid_forward(self, x)
hybrid('forward(self, F, x)', 'x')(A(2)) | TypeError | forward takes no F
hybrid('hybrid_forward(self, F, x)', 'x', "self.w = self.params.get('w', shape=(2, 2))")(A(2)) | TypeError | parameter 'w'; hybrid_forward(self, F, x)
hybrid('hybrid_forward(self, F, x)', 'nd.relu(x)')(A(2)) | TypeError | data must be an NDArray; a Symbol; of F
hybrid('hybrid_forward(self, F, x)', 'F.reshape(x, (x.shape[0], -1))')(A(2, 3)) | AttributeError | 'shape'; infer_shape
hybrid('hybrid_forward(self, F, x)', 'None')(A(2)) | TypeError | hybrid_forward returned None
A(2).view(2) | AttributeError | 'view'; reshape(
A(2).numpy() | AttributeError | 'numpy'; asnumpy()
A(2).cuda() | AttributeError | 'cuda'; as_in_context(mx.gpu())
A(2) @ A(2) | TypeError | @ is not defined; mx.nd.dot; mx.np
A(2)[0:'x'] | ValueError | the str 'x'; must be ints
nd.ones(2, 3) | TypeError | not 3; one tuple: (2, 3)
nd.ones((2, 3), 'float32') | TypeError | not 'float32'; dtype='float32'
nd.ones((2,), ctx='gpu') | TypeError | not 'gpu'; mx.gpu()
nd.ones((2,), ctx=mx.cpu) | TypeError | ctx must be a Context; call it
A(2).as_in_context(mx.cpu) | TypeError | ctx must be a Context; call it
nd.sparse.csr_matrix((A(2), A(2)), shape=(2, 2)) | ValueError | csr_matrix; (data, (row, column))
nd.Pooling(A(1, 1, 4, 4), kernel=(2, 2), pool_type='Max') | MXNetError | pool_type='Max'; did you mean max?
rec(lambda: A(2) * 1).backward(onp.ones(2)) | MXNetError | attach_grad
tape().backward(onp.ones(2)) | TypeError | out_grad; numpy.ndarray of shape (2,); mx.nd.array
autograd.backward(5) | TypeError | heads must be an NDArray or a list; the int 5
autograd.backward([tape()], 5) | TypeError | head_grads must be an NDArray or a list; the int 5
gluon.loss.SoftmaxCrossEntropyLoss(A(4, 3), A(4)) | TypeError | axis must be an int; an NDArray
gluon.utils.clip_global_norm(A(2), 1) | TypeError | arrays must be a list
gluon.utils.clip_global_norm([onp.ones(2)], 1) | TypeError | array 0 must be an NDArray; numpy.ndarray
gluon.utils.split_data(A(4), '2') | TypeError | num_slice must be an int; '2'
gluon.data.ArrayDataset(5) | TypeError | ArrayDataset; the int 5
gluon.data.ArrayDataset(X).transform(5) | TypeError | fn must be a function; the int 5
gluon.data.DataLoader(gluon.data.ArrayDataset(X), 4, num_workers='2') | TypeError | DataLoader; num_workers must be an int; '2'
gluon.data.vision.transforms.Compose(gluon.data.vision.transforms.ToTensor()) | TypeError | Compose; a list of transforms; ToTensor
gluon.model_zoo.vision.get_model('resnet18') | ValueError | 'resnet18'; did you mean 'resnet18_v1'?
mod().update_metric('acc', [A(4)]) | TypeError | eval_metric; mx.metric.create('acc')
mod().init_params(5, force_init=True) | TypeError | initializer; the int 5
mod().save_checkpoint('m', 'a') | TypeError | epoch; 'a'
mod().save_checkpoint(None, 1) | TypeError | prefix must be a str; None
mx.mod.Module(mlp(), data_names='data') | TypeError | data_names must be a list; ['data']
mx.mod.BucketingModule(mlp(), default_bucket_key=3) | TypeError | sym_gen must be a function; a Symbol
mx.mod.BucketingModule(lambda key: mlp(), default_bucket_key=3) | TypeError | sym_gen(3); (symbol, data names, label names)
mlp().simple_bind(mx.cpu(), data=5) | TypeError | shape of data; a tuple of ints; 5
mlp().simple_bind(mx.cpu(), data='a') | TypeError | shape of data; a tuple of ints; 'a'
sym.Group(sym.var('a')) | TypeError | a list of one or more symbols; a Symbol
sym.var('a') + A(2) | TypeError | a symbol or a number; an NDArray
mx.viz.print_summary(mlp(), 5) | TypeError | shape must be a dict; the int 5
mx.viz.print_summary(mlp(), {'data': 5}) | TypeError | shape of data; the int 5
mx.viz.print_summary(mlp(), {'dta': (4, 5)}) | ValueError | no argument 'dta'; did you mean data?
mx.metric.Accuracy().update(A(4), 5) | TypeError | predictions are the int 5
mx.metric.TopKAccuracy('a') | TypeError | TopKAccuracy; top_k must be an int; 'a'
mx.metric.CustomMetric(5) | TypeError | feval must be a function; the int 5
mx.metric.np(5) | TypeError | a function; the int 5
mx.optimizer.SGD().set_lr_mult(5) | TypeError | set_lr_mult; a dict; the int 5
mx.optimizer.get_updater('sgd') | TypeError | optimizer must be an Optimizer; 'sgd'
mx.optimizer.Adam(lr_scheduler=0.1) | TypeError | lr_scheduler; the float 0.1
mx.lr_scheduler.FactorScheduler('5') | TypeError | FactorScheduler; step must be an int; '5'
mx.lr_scheduler.FactorScheduler(5, base_lr='a') | TypeError | base_lr must be a number; 'a'
mx.init.Xavier(magnitude='a') | TypeError | Xavier; magnitude must be a number; 'a'
mx.init.Uniform('a') | TypeError | Uniform; scale must be a number; 'a'
kvl().push('a', 5) | AssertionError | the value of key 'a'; the int 5
kvl().pull('a', 5) | AssertionError | the value of key 'a'; the int 5
kvl().push('a', onp.ones((2, 2))) | AssertionError | the value of key 'a'; numpy.ndarray of shape (2, 2)
kvl().set_updater(5) | TypeError | updater must be a function; the int 5
mx.recordio.MXRecordIO('w.rec', 'w').write(5) | TypeError | MXRecordIO.write takes bytes; the int 5
mx.recordio.pack(5, b'a') | TypeError | header; IRHeader; the int 5
mx.image.CreateAugmenter(5) | ValueError | data_shape; (channels, height, width); 5
npm(lambda: np.concatenate(np.ones(2), np.ones(2))) | TypeError | np.concatenate([a, b])
npm(lambda: np.stack(5)) | TypeError | np.stack; a list; the int 5
npm(lambda: np.histogram('a')) | TypeError | np.histogram; the str 'a'
npm(lambda: np.random.normal(size=-1)) | MXNetError | a length is negative
"""

# Mistakes of readers of D2L and of Module programs, found by trying them.
READERS = r"""
nn.Dense(10).initialize(mx.init.Xavier) | MXNetError | the class Xavier; Xavier()
nn.Dense(10).initialize(mx.gpu()) | MXNetError | initializer must be a name; a Context; ctx=
nn.Dense(10).initialize('xavier2') | MXNetError | 'xavier2'; did you mean xavier?
mx.metric.CompositeEvalMetric().add(5) | MXNetError | an EvalMetric; the int 5
gluon.Trainer([A(2)], 'sgd') | ValueError | params must hold Parameters; an NDArray
init(gluon.rnn.LSTM(8)).begin_state() | MXNetError | begin_state; batch_size is missing
init(gluon.rnn.LSTMCell(8)).begin_state() | MXNetError | begin_state; batch_size is missing
gluon.rnn.RNN(8, activation='sigmoid') | ValueError | activation must be 'relu' or 'tanh'; 'sigmoid'
gluon.rnn.ZoneoutCell(gluon.rnn.LSTM(8)) | TypeError | ZoneoutCell; base_cell; an LSTM
gluon.rnn.ResidualCell(nn.Dense(8)) | TypeError | ResidualCell; base_cell; a Dense
L.SoftmaxCrossEntropyLoss(axis=2)(A(4, 3), A(4)) | MXNetError | SoftmaxCrossEntropyLoss; shape (4, 3); no axis 2
L.SoftmaxCrossEntropyLoss()(A(4, 3), nd.array([0, 1, 2, 3])) | UserWarning | from 0 to 3; 3 classes
gluon.data.ArrayDataset(A(4, 2))[9] | IndexError | [9]; shape (4, 2); axis 0 has length 4
gluon.data.ArrayDataset(A(4, 2)).transform_first(gluon.data.vision.transforms.ToTensor) | TypeError | transform_first; the class ToTensor; ToTensor(...)
gluon.data.ArrayDataset(A(4, 2)).transform(gluon.data.vision.transforms.Cast) | TypeError | transform: fn; the class Cast
gluon.data.vision.ImageFolderDataset('nofolder') | FileNotFoundError | ImageFolderDataset; one folder for each class; 'nofolder'
gluon.data.BatchSampler(gluon.data.SequentialSampler(4), 2, 'drop') | ValueError | last_batch; 'discard'; 'drop'
gluon.data.RandomSampler([1, 2]) | TypeError | RandomSampler; length must be an int; a list; len(dataset)
gluon.data.SequentialSampler('a') | TypeError | SequentialSampler; length must be an int; 'a'
gluon.data.vision.transforms.Cast('flot16')(A(2)) | MXNetError | dtype='flot16'; did you mean float16?
nd.cast(A(2), dtype='in32') | MXNetError | dtype='in32'; did you mean int32?
M.F1(average='makro') | UserWarning | F1; average; 'makro'
M.F1(average='weighted') | UserWarning | 'macro' or 'micro'; 'weighted'
nd.save('x.params', {1: A(2)}) | ValueError | nd.save; a dict with the int 1 as a name
nd.save('x.params', {'a': 1}) | ValueError | nd.save; a dict with the int 1
(sym.var('a') * 2).eval(a=5) | TypeError | args: a must be an array; the int 5
mlp()['fc1_output'] | ValueError | no output 'fc1_output'; softmax_output
mlp().get_internals()['fc1_outputs'] | ValueError | did you mean fc1_output?
sym.concat(sym.var('a'), sym.var('b'), dim=5).infer_shape(a=(2, 3), b=(2, 3)) | MXNetError | Concat; dim=5; no axis 5
bool(sym.var('a') > 0) | MXNetError | truth value of a Symbol; F.where; F.contrib.cond
hybrid('hybrid_forward(self, F, x)', 'x if x.sum() > 0 else -x')(A(2)) | MXNetError | truth value of a Symbol; do not hybridize
hybrid('hybrid_forward(self, F, x)', 'x + x.asnumpy()')(A(2)) | MXNetError | asnumpy is not available for a Symbol; no values
hybrid('hybrid_forward(self, F, x)', 'F.relu6(x)')(A(2)) | AttributeError | 'relu6'; 'relu'
mx.image.imread(5) | TypeError | imread; filename must be a str; the int 5
mx.image.resize_short(A(8, 8, 3), 'a') | TypeError | resize_short; size must be an int; 'a'
mx.image.resize_short(A(8, 8, 3), (4, 4)) | TypeError | resize_short; shorter side; a tuple
mx.image.center_crop(A(8, 8, 3), 5) | TypeError | size must be (width, height); 5
mx.image.random_crop(A(8, 8, 3), (4, 4, 3)) | TypeError | size must be (width, height); (4, 4, 3)
mx.io.NDArrayIter([1, 2, 3]) | TypeError | the int 1; mx.nd.array(x)
mx.io.ResizeIter(5, 3) | TypeError | a DataIter; the int 5
mx.io.NDArrayIter(X, Y, 4, last_batch_handle='rollover') | ValueError | last_batch_handle; 'roll_over'; 'rollover'
A(2, 3)[0, 0, 0] | IndexError | [0, 0, 0]; shape (2, 3); too many indices
npm(lambda: np.ones((2, 3))[0, 0, 0]) | IndexError | [0, 0, 0]; shape (2, 3); too many indices
npm(lambda: np.ones((2, 3))[[True, False, True]]) | IndexError | a mask of shape (3,); axis 0 of the array has length 2
npm(lambda: np.ones((2, 3)).mean(dim=1)) | TypeError | ndarray.mean; 'dim'
npm(lambda: np.random.normal(0, 1, shape=(2,))) | TypeError | normal; 'shape'; did you mean size?
npm(lambda: np.random.uniform(0, 1, sized=(2,))) | TypeError | uniform; 'sized'; did you mean size?
npm(lambda: np.transpose(np.ones((2, 3)), (0, 1, 2))) | MXNetError | axes=(0, 1, 2); shape (2, 3)
A(2, 3).reshape('a') | TypeError | reshape; a tuple of ints; 'a'
A(2, 3).reshape(2.5) | TypeError | reshape; a tuple of ints; 2.5
nd.full((2,), 'a') | TypeError | nd.full; val must be a number; 'a'
nd.full((2,), None) | TypeError | nd.full; val must be a number; None
dense(3, in_units=2).apply(5) | TypeError | apply: fn must be a function of a block; the int 5
nn.HybridLambda('relu2') | AssertionError | mx.nd.relu2; did you mean relu?
nn.Lambda('sofmax') | AssertionError | mx.nd.sofmax; did you mean softmax?
gluon.Trainer(dense(in_units=2), 'sgd') | ValueError | collect_params(); a Dense
init(nn.Conv2D(6, 5))(A(2, 28, 28, 1)) | ValueError | shape; (2, 28, 28, 1); layout='NCHW'
init(nn.Dense(10, in_units=784))(A(2, 1, 28, 27)) | MXNetError | 756 values; weight takes 784
nd.Embedding(A(2, 2), A(5, 3), input_dim=5) | MXNetError | Embedding; output_dim is missing
mx.random.seed('a') | ValueError | seed must be an int; 'a'
"""

# Mistakes in calls of arrays, layers, data, optimizers, images and symbols, each compared with what 1.9.1 raises.
CALLS = r"""
nd.split_v2(A(4, 3), (5, 9)) | MXNetError | _split_v2; (0, 5, 9); length 4
A(2, 3).as_in_context(None) | TypeError | context must be a Context; None
A(2, 3).copyto(A(3, 2)) | MXNetError | (2, 3); (3, 2)
A(2, 3).copyto('cpu') | TypeError | copyto takes an array or a Context; 'cpu'
nd.full((2,), {'a': 1}) | TypeError | nd.full; a dict
nd.from_dlpack(5) | AssertionError | from_dlpack; __dlpack__; the int 5
nd.linalg.potrf(nd.array([[1, 2], [2, 1]])) | MXNetError | the matrix is not positive-definite
nd.linalg.inverse(nd.zeros((2, 2))) | MXNetError | the matrix is singular
nd.array([1, 2], ctx=0) | TypeError | ctx must be a Context; 0
nd.zeros((2, 3), dtype='flot') | TypeError | unknown dtype 'flot'
A(2).astype('flot') | MXNetError | unknown dtype 'flot'
nd.slice(A(2, 3), begin=(0,), end=(1,), step=(0,)) | MXNetError | step=(0,); other than 0
nd.slice_axis(A(2, 3), axis=0, begin=5, end=9) | MXNetError | begin=5 and end=9; 2 elements of axis 0
nd.topk(A(2, 3), k=7) | MXNetError | k=7; 3 elements
nd.one_hot(A(3), -3) | MXNetError | depth=-3; >= 0
nd.sum(A(2, 3), axis=(0, 0)) | MXNetError | axis=(0, 0); twice
nd.gather_nd(A(2, 3), A(3, 1)) | MXNetError | indices has shape (3, 1); at most 2 long
nd.broadcast_to(A(2, 3), (4, 3)) | MXNetError | (2, 3); (4, 3)
nd.Pooling(A(1, 1, 4, 4), kernel=(2, 2), pad=(2, 2), pool_type='max') | MXNetError | pad=(2, 2); smaller than kernel=(2, 2)
nd.Pooling(A(1, 1, 4), kernel=(2,), pad=(2,), pool_type='avg') | MXNetError | pad=(2,); nothing but padding
nd.Custom(A(2), op_type='nosuch') | MXNetError | op_type='nosuch'; mx.operator.register
nn.Conv2D(0, 3) | MXNetError | Conv2D; channels; at least 1; 0
nn.Conv2D(4, 0) | MXNetError | Conv2D; kernel_size=(0, 0); positive
nn.Conv2D(4, 3, groups=3) | MXNetError | groups=3; channels=4
nn.Conv2D(4, 3, groups=2, in_channels=3) | MXNetError | groups=2; in_channels=3
nn.Conv2D(4, 3, groups=0) | MXNetError | groups; at least 1
nn.Conv2D(4, 3, strides=(1, 1, 1)) | MXNetError | strides; 2 numbers; (1, 1, 1)
nn.Conv1D(4, 3, dilation=(1, 1)) | MXNetError | dilation; (1, 1)
nn.Conv2DTranspose(4, 3, groups=3) | MXNetError | groups=3; channels=4
nn.MaxPool2D(2, padding=3)(A(1, 1, 4, 4)) | MXNetError | pad=(3, 3); kernel=(2, 2)
init(nn.Dense(3, weight_initializer='foo'))(A(2, 3)) | AssertionError | no initializer called 'foo'
nn.Dense(3, weight_initializer=5) | TypeError | dense; _weight; init; the int 5
gluon.Parameter('w', shape=(2,), dtype='foo').initialize() | TypeError | unknown dtype 'foo'
gluon.Parameter('w', grad_req='foo') | AssertionError | 'w'; write, add or null; 'foo'
gluon.rnn.LSTM(4, num_layers=0) | ValueError | LSTM; num_layers; at least 1; 0
gluon.SymbolBlock(mlp(), 5) | ValueError | SymbolBlock; inputs; the int 5
gluon.contrib.estimator.Estimator(5, L.L2Loss()) | TypeError | Estimator; net must be a Block; the int 5
gluon.model_zoo.vision.get_model(5) | TypeError | get_model; name must be a str; the int 5
gluon.utils.split_data([1, 2], 2) | TypeError | split_data; data must be an NDArray; a list
gluon.utils.clip_global_norm([A(2)], 'a') | TypeError | max_norm must be a number; 'a'
gluon.utils.download(5) | TypeError | download; url must be a str; the int 5
gluon.data.ArrayDataset(A(3)).filter(5) | TypeError | filter; a function; the int 5
gluon.data.ArrayDataset(A(3)).take(-1) | ValueError | take; count; -1
gluon.data.ArrayDataset(A(3)).shard(2, 5) | AssertionError | 5; 2
gluon.data.FilterSampler(5, [1]) | TypeError | FilterSampler; fn; the int 5
gluon.data.BatchSampler(5, 2) | TypeError | BatchSampler; sampler; the int 5
gluon.data.DataLoader([1, 2], 2, batchify_fn=5) | TypeError | DataLoader; batchify_fn; the int 5
list(gluon.data.DataLoader([(A(2), 1), (A(2),)], 2)) | ValueError | number of parts; 2; 1
gluon.data.vision.transforms.Normalize((1, 2), (1, 2))(A(3, 4, 4)) | MXNetError | 2; 3
mx.mod.Module(mlp()).bind(None) | TypeError | data_shapes; (name, shape); None
mx.mod.Module(mlp()).bind(5) | TypeError | (name, shape); not 5
mod().install_monitor(5) | TypeError | install_monitor; Monitor; the int 5
mod().bind([('data', (9, 5))], [('softmax_label', (9,))], grad_req='foo', force_rebind=True) | MXNetError | 'foo'
mod().score(mx.io.NDArrayIter(X, Y, 4), 'foo') | AssertionError | no metric called 'foo'
mod().score(mx.io.NDArrayIter(X, Y, 4), 5) | AssertionError | metric; the int 5
mod().load_optimizer_states('nothere') | FileNotFoundError | nothere; cannot read
mod().reshape([('data', (4, 7))], [('softmax_label', (4,))]) | MXNetError | fc1_weight; (4, 5); (4, 7)
mod().reshape([('data', (4, 7))], [('softmax_label', (4,))]) | AssertionError | partial_shaping
mlp().simple_bind(mx.cpu(), data=(4, 5)).reshape(data=(9, 7)) | MXNetError | data grows; (9, 7); allow_up_sizing
mlp().simple_bind(mx.cpu(), data=(4, 5)).copy_params_from({'fc1_weight': A(9, 9)}) | MXNetError | fc1_weight; (9, 9); (4, 5)
mlp().simple_bind(mx.cpu(), data=(4, 5)).backward(5) | TypeError | out_grads; the int 5
mlp().infer_shape(5) | TypeError | infer_shape; data; a tuple of ints; the int 5
mlp().infer_shape(data=5) | TypeError | infer_shape; data; the int 5
mlp().infer_shape(data='a') | TypeError | infer_shape; data; 'a'
sym.var('a', attr={'b': 5}) | ValueError | attribute b; a string; the int 5
sym.var('a', dtype='foo') | TypeError | unknown dtype 'foo'
sym.FullyConnected(sym.var('a'), sym.var('b'), sym.var('c'), sym.var('d'), num_hidden=3) | TypeError | FullyConnected
mx.optimizer.SGD().update([0, 1], [A(2)], [A(2)], [None]) | MXNetError | 2 indices; 1 weights
mx.metric.TopKAccuracy(9).update([A(3)], [A(3, 4)]) | ValueError | top_k=9; (3, 4); 4 classes
mx.metric.CompositeEvalMetric(5) | TypeError | CompositeEvalMetric; a list of metrics; the int 5
mx.metric.Loss().update(None, 5) | TypeError | Loss.update; preds; the int 5
mx.metric.create(None) | AssertionError | metric; None
kvl().push('a', []) | AssertionError | no array for key 'a'
kvl().push(['a', 'b'], [A(2, 2)]) | AssertionError | 2 keys; 1
mx.image.fixed_crop(A(4, 4, 3), -1, 0, 2, 2) | MXNetError | x0=-1; width 4
mx.image.fixed_crop(A(4, 4, 3), 3, 3, 0, 0) | MXNetError | w=0, h=0; height 4
mx.image.center_crop(A(4, 4, 3), (0, 0)) | MXNetError | w=0, h=0
mx.image.copyMakeBorder(A(4, 4, 3), -1, 0, 0, 0) | MXNetError | top=-1; negative
mx.image.copyMakeBorder(A(4, 4, 3), 1, 0, 0, 0, type=99) | MXNetError | type; 0 to 4; 99
mx.recordio.pack_img(mx.recordio.IRHeader(0, 1, 2, 3), 5) | TypeError | pack_img; img; the int 5
mx.recordio.pack_img(mx.recordio.IRHeader(0, 1, 2, 3), onp.ones((4, 4, 3), 'uint8'), img_fmt='.foo') | AssertionError | img_fmt='.foo'
mx.recordio.MXRecordIO('a.rec', 'r').write(b'a') | AssertionError | a.rec; flag 'r'
mx.recordio.MXIndexedRecordIO('nothere.idx', 'a.rec', 'r') | FileNotFoundError | nothere.idx
gluon.Trainer(dense(in_units=2).collect_params(), 'sgd').save_states('nodir/s') | FileNotFoundError | nodir/s; cannot write
nd.load('nothere') | MXNetError | nothere; cannot read
"""

"""Small models of data of our own: rents by size, age and district, as scikit-learn trains and skl2onnx writes them."""
import json, sys
import numpy as np, onnx
from onnx import helper as h, TensorProto as T, numpy_helper
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.cluster import KMeans
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import StandardScaler, OneHotEncoder
from sklearn.svm import LinearSVC
import pandas as pd
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType, StringTensorType, Int64TensorType
out = sys.argv[1]
rng = np.random.default_rng(7)
n = 240
sqft = rng.integers(20, 160, n).astype(float)
age = rng.integers(0, 90, n).astype(float)
district = rng.choice(['centre', 'north', 'river'], n)
rent = 200 + 11.5 * sqft - 2.25 * age + np.select([district == 'centre', district == 'river'], [340, 120], 0) + rng.normal(0, 25, n)
grade = np.select([rent > 1500, rent > 900], ['high', 'middle'], 'low')
X = np.column_stack([sqft, age]).astype(np.float32)
rows = [dict(sqft=float(s), age=float(a), district=str(d)) for s, a, d in zip(sqft[:40], age[:40], district[:40])]
table = pd.DataFrame(dict(sqft=sqft, age=age, district=district))
truth = {}
def num(v): return [float(x) for x in v]
def save(name, model, **kw):
    m = model if isinstance(model, onnx.ModelProto) else model
    open(f'{out}/models/{name}.onnx', 'wb').write(m.SerializeToString())
opset = {'': 17, 'ai.onnx.ml': 3}

reg = LinearRegression().fit(X, rent)
save('linear', to_onnx(reg, X[:1], target_opset=opset)); truth['linear'] = dict(value=num(reg.predict(X[:40])))
gbr = make_pipeline(StandardScaler(), GradientBoostingRegressor(n_estimators=20, max_depth=3, random_state=0)).fit(X, rent)
save('boosted', to_onnx(gbr, X[:1], target_opset=opset)); truth['boosted'] = dict(value=num(gbr.predict(X[:40])))
pre = ColumnTransformer([('num', StandardScaler(), ['sqft', 'age']), ('cat', OneHotEncoder(handle_unknown='ignore'), ['district'])])
types = [('sqft', FloatTensorType([None, 1])), ('age', FloatTensorType([None, 1])), ('district', StringTensorType([None, 1]))]
pipe = make_pipeline(pre, LinearRegression()).fit(table, rent)
save('rent', to_onnx(pipe, initial_types=types, target_opset=opset)); truth['rent'] = dict(value=num(pipe.predict(table[:40])))
clf = make_pipeline(pre, LogisticRegression(max_iter=500)).fit(table, grade)
P = clf.predict_proba(table[:40])
save('grade', to_onnx(clf, initial_types=types, target_opset=opset, options={id(clf): {'zipmap': False}}))
save('grade_zipmap', to_onnx(clf, initial_types=types, target_opset=opset))
truth['grade'] = dict(classes=list(map(str, clf.classes_)), value=list(map(str, clf.predict(table[:40]))), probabilities=[num(p) for p in P])
y = (rent > 1100).astype(np.int64)
rf = RandomForestClassifier(n_estimators=8, max_depth=4, random_state=0).fit(X, y)
save('forest', to_onnx(rf, X[:1], target_opset=opset, options={id(rf): {'zipmap': False}}))
save('forest_zipmap', to_onnx(rf, X[:1], target_opset=opset))
truth['forest'] = dict(classes=[0, 1], value=[int(v) for v in rf.predict(X[:40])], probabilities=[num(p) for p in rf.predict_proba(X[:40])])
knn = KNeighborsClassifier(3).fit(X[:40], grade[:40])
save('neighbours', to_onnx(knn, X[:1], target_opset=opset, options={id(knn): {'zipmap': False}}))
truth['neighbours'] = dict(classes=list(map(str, knn.classes_)), value=list(map(str, knn.predict(X[:40]))), probabilities=[num(p) for p in knn.predict_proba(X[:40])])
Xi = X.astype(np.int64)
ireg = LinearRegression().fit(Xi, rent)
save('whole', to_onnx(ireg, initial_types=[('X', Int64TensorType([None, 2]))], target_opset=opset)); truth['whole'] = dict(value=num(ireg.predict(Xi[:40])))
svc = LinearSVC(random_state=0).fit(X, grade)
save('scores', to_onnx(svc, X[:1], target_opset=opset))
clusters = KMeans(3, n_init=2, random_state=0).fit(X)
save('clusters', to_onnx(clusters, X[:1], target_opset=opset))
truth['clusters'] = dict(value=[int(v) for v in clusters.predict(X[:40])])
truth['scores'] = dict(classes=list(map(str, svc.classes_)), value=list(map(str, svc.predict(X[:40]))))

# What has to be refused.
vi = h.make_tensor_value_info
def model(nodes, ins, outs, inits=(), opsets=None, **kw):
    g = h.make_graph(nodes, 'g', ins, outs, list(inits))
    return h.make_model(g, opset_imports=[h.make_opsetid(d, v) for d, v in (opsets or {'': 17}).items()], ir_version=8, **kw)
io = [vi('X', T.FLOAT, [None, 2])], [vi('Y', T.FLOAT, [None, 2])]
save('custom', model([h.make_node('Twist', ['X'], ['Y'], domain='com.acme')], *io, opsets={'': 17, 'com.acme': 1}))
w = numpy_helper.from_array(np.ones((2,), np.float32), 'w')
w.data_location = T.EXTERNAL; w.ClearField('raw_data')
for k, v in (('location', 'weights.bin'), ('offset', '0'), ('length', '8')):
    e = w.external_data.add(); e.key, e.value = k, v
save('external', model([h.make_node('Add', ['X', 'w'], ['Y'])], *io, inits=[w]))
body = h.make_graph([h.make_node('Identity', ['c'], ['c2']), h.make_node('Add', ['a', 'one'], ['a2'])], 'body',
  [vi('i', T.INT64, []), vi('c', T.BOOL, []), vi('a', T.FLOAT, [None, 2])], [vi('c2', T.BOOL, []), vi('a2', T.FLOAT, [None, 2])])
inits = [numpy_helper.from_array(np.array(2**62, np.int64), 'm'), numpy_helper.from_array(np.array(True), 't'), numpy_helper.from_array(np.array(1, np.float32), 'one')]
loop = [h.make_node('Loop', ['m', 't', 'X'], ['L'], body=body), h.make_node('ReduceSum', ['L', 'axis'], ['Y'], keepdims=1)]
inits.append(numpy_helper.from_array(np.array([1], np.int64), 'axis'))
save('endless', model(loop, [vi('X', T.FLOAT, [None, 2])], [vi('Y', T.FLOAT, [None, 1])], inits))
# Ends at once for the rows of a check, and never for a first row of 666.
th = numpy_helper.from_array(np.array([666], np.float32), 'th'); ze = numpy_helper.from_array(np.array([0, 0], np.int64), 'zz')
nodes = [h.make_node('ReduceMax', ['X'], ['mx'], keepdims=0), h.make_node('Equal', ['mx', 'th0'], ['is']),
  h.make_node('Loop', ['m', 'is', 'X'], ['L'], body=body), h.make_node('ReduceSum', ['L', 'axis'], ['Y'], keepdims=1)]
inits2 = inits[:1] + inits[2:] + [numpy_helper.from_array(np.array(666, np.float32), 'th0')]
save('trap', model(nodes, [vi('X', T.FLOAT, [None, 2])], [vi('Y', T.FLOAT, [None, 1])], inits2))
shape = numpy_helper.from_array(np.array([40_000_000_000], np.int64), 'shape')
save('hungry', model([h.make_node('ConstantOfShape', ['shape'], ['big']), h.make_node('ReduceSum', ['big'], ['s'], keepdims=0), h.make_node('Add', ['X', 's'], ['Y'])], [vi('X', T.FLOAT, [None, 1])], [vi('Y', T.FLOAT, [None, 1])], [shape]))
# Every row less the mean of those that come with it: a row's number depends on its neighbours.
save('mean', model([h.make_node('ReduceMean', ['X'], ['mu'], axes=[0], keepdims=1), h.make_node('Sub', ['X', 'mu'], ['d']), h.make_node('ReduceSum', ['d', 'axis'], ['Y'], keepdims=1)], [vi('X', T.FLOAT, [None, 2])], [vi('Y', T.FLOAT, [None, 1])], [inits[-1]]))
save('random', model([h.make_node('RandomUniformLike', ['X'], ['Y'])], [vi('X', T.FLOAT, [None, 1])], [vi('Y', T.FLOAT, [None, 1])]))
save('image', model([h.make_node('GlobalAveragePool', ['X'], ['Y'])], [vi('X', T.FLOAT, [None, 3, 8, 8])], [vi('Y', T.FLOAT, [None, 3, 1, 1])]))
json.dump(dict(rows=rows, truth=truth), open(f'{out}/truth.json', 'w'))

import { expect, test } from '@jest/globals'
import { dialectService, expectAnswer, type Case } from '../../../support/dialect.js'
import { settled, uploadRentals } from '../../../support/models/rentals.js'
import { send, sql } from '../../../support/service.js'
import { engineInfos } from '../../../../src/catalogue/engines.js'

const at = dialectService(async (url) => {
  await uploadRentals(url, 'rentals', 60)
  await expectAnswer(url, ['CREATE PROJECT shop', 'ok'])
})

const answered =
  'NAME, ENGINE, PROJECT, ACTIVE, VERSION, STATUS, ACCURACY, PREDICT, UPDATE_STATUS, MINDSDB_VERSION, ERROR, SELECT_DATA_QUERY, TRAINING_OPTIONS, TAG'
const listed =
  'NAME, ENGINE, PROJECT, ACTIVE, VERSION, STATUS, ACCURACY, PREDICT, UPDATE_STATUS, MINDSDB_VERSION, ERROR, SELECT_DATA_QUERY, TRAINING_OPTIONS, ' +
  'CURRENT_TRAINING_PHASE, TOTAL_TRAINING_PHASES, TRAINING_PHASE_NAME, TAG, CREATED_AT, TRAINING_TIME'
const predicted =
  'sqft, location, rooms, rental_price, select_data_query, when_data, rental_price_original, rental_price_confidence, rental_price_explain, ' +
  'rental_price_anomaly, rental_price_min, rental_price_max'
const active = "SELECT version FROM shop.models WHERE name = 'RENT' AND ACTIVE = '1'"

const cases: Case[] = [
  [
    "CREATE PREDICTOR shop.Rent\nFROM `files`\n(SELECT * FROM rentals)\nPREDICT `rental_price`\nUSING\nengine = 'lightwood',\n`tag` = 'first'",
    answered,
  ],
  ['wait', 'rent'],
  ['CREATE MODEL shop.rent FROM files (SELECT * FROM rentals) PREDICT rental_price', /Model with name rent already exists/],
  ['CREATE MODEL IF NOT EXISTS shop.rent FROM files (SELECT * FROM rentals) PREDICT rental_price', 'ok'],
  ["CREATE MODEL shop.x FROM files (SELECT * FROM rentals) PREDICT rental_price USING engine = 'none'", /There is no engine "none"/],
  ['CREATE MODEL shop.x FROM files (SELECT * FROM rentals) PREDICT a, b', /a model predicts one column, not 2/],
  [
    'CREATE MODEL shop.x FROM files (SELECT * FROM rentals) PREDICT rental_price ORDER BY rooms WINDOW 3',
    /"horizon" is missing, expected a whole number/,
  ],
  [
    'CREATE ANOMALY DETECTION MODEL shop.x FROM files (SELECT * FROM rentals)',
    /does not have CREATE ANOMALY DETECTION MODEL\nUse CREATE MODEL/,
  ],
  ["SHOW MODELS FROM shop LIKE 'R%'", listed],
  ['SHOW PREDICTORS IN shop', listed],
  ['SHOW MODELS', listed, []],
  ["SELECT * FROM `shop`.models WHERE name = 'rent'", listed],
  ["SELECT * FROM `shop`.models_versions WHERE name = 'rent' and version = '1'", listed],
  [
    'SELECT name, version, active, status, tag FROM shop.models',
    'NAME, VERSION, ACTIVE, STATUS, TAG',
    [['Rent', 1, true, 'complete', 'first']],
  ],
  ["SELECT * FROM shop.models WHERE NAME = 'rent' AND VERSION = 2 AND ACTIVE = '1'", listed, []],
  ['DESCRIBE shop.rent', `TABLES, ${answered}`],
  ['DESCRIBE MODEL shop.rent.1', `TABLES, ${answered}`],
  ['DESCRIBE PREDICTOR `shop`.`rent`', `TABLES, ${answered}`],
  ['DESCRIBE `shop`.`rent`.`info`', 'accuracies, column_importances, outputs, inputs'],
  [
    'DESCRIBE `shop`.`rent`.`1`.`features`',
    'column, type, encoder, role',
    [
      ['sqft', 'integer', 'number', 'feature'],
      ['location', 'text', 'category', 'feature'],
      ['rooms', 'integer', 'number', 'feature'],
      ['rental_price', 'integer', 'regression', 'target'],
    ],
  ],
  ['DESCRIBE shop.rent.model', 'name, performance, training_time, selected, accuracy_functions'],
  ['DESCRIBE shop.rent.jsonai', 'json_ai'],
  ['DESCRIBE shop.rent.metrics', 'metric, value, about'],
  ['DESCRIBE shop.rent.importances', 'column, importance'],
  ['DESCRIBE shop.rent.1.data', 'fact, value, detail'],
  ['DESCRIBE shop.rent.plan', 'name, value'],
  ['DESCRIBE shop.rent.jobs', 'version, status, current_phase, done, total, engine, tag, rows, seconds, error'],
  ['DESCRIBE shop.rent.confusion', /Version 1 of Rent has no confusion\nOnly models that predict classes/],
  [
    'DESCRIBE shop.rent.nope',
    /no attribute nope\nAttributes: info, features, metrics, importances, data, plan, classes, confusion, calibration, residuals, coverage, series, model, jsonai, jobs/,
  ],
  ['DESCRIBE shop.rent.9', /has no version 9/],
  ['DESCRIBE shop.none', /Model not found: shop\.none\nDESCRIBE names a model, a view, a file or a table/],
  ['SELECT * FROM `shop`.`rent`.1\nWHERE sqft = 900\nAND location = "good"\n', predicted],
  ["SELECT rental_price > 0 AS yes FROM shop.rent WHERE sqft = '900' USING confidence = 0.5", 'yes', [[true]]],
  ["SELECT rental_price > 0 AS yes FROM shop.rent WHERE sqft = '900' USING a = 1", /USING has no option a/],
  [
    'SELECT m.`rental_price` AS predicted, t.*, m.*\nFROM `files`.`rentals` AS t\nJOIN `shop`.`rent`.1 AS m\nWHERE t.sqft > 400\nLIMIT 10',
    `predicted, sqft, location, rooms, rental_price, ${predicted}`,
  ],
  ['SELECT m.* FROM (SELECT * FROM files (SELECT * FROM rentals LIMIT 3)) AS t JOIN shop.rent AS m', predicted],
  [
    'SELECT\u00a0m.rental_price\u3000FROM\u00a0files.rentals\u00a0AS\u00a0t\u00a0JOIN\u00a0shop.rent\u00a0AS\u00a0m\u00a0LIMIT\u00a00',
    'rental_price',
    [],
  ],
  ['SELECT * FROM shop.rent', /WHERE clause required when selecting from a model/],
  [
    'EVALUATE r2_score FROM (SELECT t.rental_price AS actual, m.rental_price AS prediction FROM files.rentals AS t JOIN shop.rent AS m)',
    'r2_score',
  ],
  [
    "EVALUATE Balanced_Accuracy_Score FROM (SELECT * FROM (VALUES ('a', 'a'), ('a', 'b'), ('b', 'b'), (NULL, 'b')) AS t(actual, prediction))",
    'Balanced_Accuracy_Score',
    [[0.75]],
  ],
  ['EVALUATE r2_score FROM (SELECT * FROM (VALUES (0, 0), (2, 1), (10, NULL), (NULL, 10)) AS t(actual, prediction))', 'r2_score', [[0.5]]],
  [
    'EVALUATE accuracy_score FROM (SELECT * FROM (VALUES (1, 1), (2, NULL), (NULL, 1)) AS t(actual, prediction))',
    'accuracy_score',
    [[0.5]],
  ],
  ['EVALUATE accuracy_score FROM (SELECT 1 AS actual)', /column "prediction" not found/],
  ['EVALUATE accuracy_score FROM (SELECT 1 AS actual, 1 AS prediction) USING k = 1', /USING has no option k\nA metric takes no options/],
  ['SELECT rental_pric FROM shop.rent WHERE sqft = 900', /Did you mean "rental_price"\?/],
  ['SELECT t.sqft, rental_price_mim FROM files.rentals AS t JOIN shop.rent AS m', /Did you mean "rental_price_min"\?/],
  [
    'SELECT t.sqft FROM files.rentals AS t JOIN shop.rent AS m WHERE t.sqft > LATEST',
    /LATEST is the last date that a model of series knows.*WHERE t\.date > LATEST/s,
  ],
  ['SELECT * FROM shop.rent.features', /Model shop\.Rent has no version features.*DESCRIBE shop\.Rent\.features/s],
  ['SELECT t.sqft FROM files.rentals AS t JOIN shop.rent AS m ORDER BY t.sqft LIMIT 1, 1', 'sqft', [[307]]],
  ['RETRAIN `shop`.`rent` USING active = 0', answered],
  ['wait', 'rent.2'],
  [active, 'VERSION', [[1]]],
  ['SET model_active = `shop`.`rent`.`2`;', 'ok'],
  [active, 'VERSION', [[2]]],
  ['SET active shop.rent.`1`', 'ok'],
  [active, 'VERSION', [[1]]],
  ['SELECT version FROM shop.models WHERE active = true OR active = 1', 'VERSION', [[1]]],
  ['SET active shop.rent.9', /has no version 9/],
  ['FINETUNE shop.rent FROM `files`\n(SELECT * FROM rentals) USING active = 0', answered],
  ['wait', 'rent.3'],
  ['DROP MODEL shop.rent.3', 'ok'],
  ['DROP MODEL shop.rent.1', /Can't remove active version: shop\.rent\.1/],
  ['DROP MODEL shop.rent.2', 'ok'],
  ['DROP PREDICTOR IF EXISTS shop.rent.2', 'ok'],
  ['DROP MODEL shop.rent.2', /has no version 2/],
  ['CREATE OR REPLACE MODEL shop.rent FROM files (SELECT sqft, rental_price FROM rentals) PREDICT rental_price', answered],
  ['wait', 'rent'],
  ['SELECT rental_price > 0 AS yes FROM shop.rent WHERE sqft = 900', 'yes', [[true]]],
  ['DROP MODEL shop.RENT', 'ok'],
  ['DROP MODEL shop.rent', /Model with name rent does not exist/],
  ['DROP MODEL IF EXISTS shop.rent', 'ok'],
  ['DROP PREDICTOR IF EXISTS nope.rent.1', 'ok'],
]
const answer = async (...one: Case) => {
  if (one[0] === 'wait') await settled(at.url, String(one[1]), 'shop')
  else await expectAnswer(at.url, one)
}
test.each(cases)('%s', answer)

const engineColumns = 'NAME, HANDLER, CONNECTION_DATA'
const own = engineInfos.map(({ name, standsFor }) => [name, standsFor ?? name, '{}'])
const handlerColumns = 'NAME, TYPE, TITLE, DESCRIPTION, VERSION, CONNECTION_ARGS, IMPORT_SUCCESS, IMPORT_ERROR'
const training = 'FROM files (SELECT * FROM rentals) PREDICT rental_price USING engine ='
const engines: Case[] = [
  ['CREATE ML_ENGINE lightwood FROM lightwood', 'ok'],
  ['CREATE ML_ENGINE IF NOT EXISTS lightwood FROM lightwood', 'ok'],
  ['SHOW ML_ENGINES', engineColumns, own],
  [
    "CREATE ML_ENGINE openai FROM openai USING api_key = 'hidden'",
    /no handler "openai".*; there are auto, boosted_trees, linear, forecast, onnx, constant, lightwood/,
  ],
  ['CREATE ML_ENGINE lightwood FROM openai', /no handler "openai"/],
  [`CREATE MODEL shop.own ${training} 'mine'`, /There is no engine "mine"/],
  ["CREATE ML_ENGINE Mine FROM lightwood USING api_key = 'hidden', depth = 3", 'ok'],
  ['CREATE ML_ENGINE mine FROM lightwood', /Engine with name mine already exists/],
  ['CREATE ML_ENGINE IF NOT EXISTS mine FROM Boosted_Trees', 'ok'],
  ['CREATE ML_ENGINE other FROM Boosted_Trees', 'ok'],
  ['SHOW ML_ENGINES', engineColumns, [...own, ['Mine', 'lightwood', '{"api_key":"******","depth":3}'], ['other', 'boosted_trees', '{}']]],
  ["SELECT name FROM information_schema.ml_engines WHERE handler = 'lightwood'", 'NAME', [['Mine']]],
  ['DESCRIBE ML_ENGINE other', engineColumns, [['other', 'boosted_trees', '{}']]],
  [`CREATE MODEL shop.own ${training} 'mine'`, answered],
  ['wait', 'own'],
  [
    "SELECT name, engine, status, error FROM shop.models WHERE engine = 'Mine'",
    'NAME, ENGINE, STATUS, ERROR',
    [['own', 'Mine', 'complete', null]],
  ],
  [`RETRAIN shop.own ${training} 'nope'`, /There is no engine "nope"/],
  ['RETRAIN shop.own', answered],
  ['wait', 'own.2'],
  ['DROP ML_ENGINE `mine`', 'ok'],
  ['SELECT rental_price > 0 AS yes FROM shop.own WHERE sqft = 900', 'yes', [[true]]],
  ['RETRAIN shop.own', /There is no engine "Mine"/],
  [`RETRAIN shop.own ${training} 'other'`, answered],
  ['wait', 'own.3'],
  ['SELECT engine, status FROM shop.models WHERE version = 3', 'ENGINE, STATUS', [['other', 'complete']]],
  ['DROP ML_ENGINE mine', /Engine with name mine does not exist/],
  ['DROP ML_ENGINE IF EXISTS mine', 'ok'],
  ['DROP ML_ENGINE other', 'ok'],
  ['SHOW ML_ENGINES', engineColumns, own],
  [
    'SELECT name, handler, change, ended_with FROM information_schema.ml_engines_history',
    'NAME, HANDLER, CHANGE, ENDED_WITH',
    [
      ['Mine', 'lightwood', 'EngineCreated', 'EngineDeleted'],
      ['other', 'boosted_trees', 'EngineCreated', 'EngineDeleted'],
    ],
  ],
  ["SHOW ML ENGINES WHERE name = 'LIGHTWOOD'", engineColumns, [['lightwood', 'auto', '{}']]],
  ['DESCRIBE ML_ENGINE lightwood', engineColumns, [['lightwood', 'auto', '{}']]],
  ["SHOW HANDLERS WHERE type = 'ml'", handlerColumns],
  ['DESCRIBE HANDLER files', handlerColumns],
  ['DROP ML_ENGINE `lightwood`', /not an engine that can be dropped/],
  ['DROP ML_ENGINE IF EXISTS nope', 'ok'],
]
test.each(engines)('%s', answer)

test('engines are read as they were', async () => {
  const then = "SELECT max(valid_from) FROM information_schema.ml_engines_history WHERE name = 'other'"
  const { data } = await sql(at.url, then)
  const names = `SELECT name FROM information_schema.ml_engines AT (VERSION => ${String(data[0]?.[0])})`
  await expectAnswer(at.url, [names, 'NAME', [...own.map(([name]) => [name]), ['Mine'], ['other']]])
})

test('the options of a training have one form in a listing, in a description and over REST', async () => {
  const using = `confidence = 0.5, task = 'regression', keep_training_data = false`
  await sql(at.url, `CREATE MODEL shop.plain FROM files (SELECT rooms, sqft AS "a ""b""" FROM rentals) PREDICT "a ""b"""`)
  await sql(at.url, `CREATE MODEL shop.told FROM files (SELECT rooms, sqft FROM rentals) PREDICT sqft USING engine = 'constant', ${using}`)
  for (const [name, options] of [
    ['plain', { target: 'a "b"' }],
    ['told', { target: 'sqft', using: { confidence: 0.5, task: 'regression' }, keep_training_data: false }],
  ] as const) {
    const listing = await sql(at.url, `SELECT training_options FROM shop.models WHERE name = '${name}'`)
    expect(JSON.parse(String(listing.data[0]?.[0]))).toEqual(options)
    const described = await sql(at.url, `DESCRIBE shop.${name}`)
    expect(described.data[0]?.[described.column_names.indexOf('TRAINING_OPTIONS')]).toBe(listing.data[0]?.[0])
    const { target, ...more } = options
    const { problem_definition } = (await send(at.url, 'GET', `/api/projects/shop/models/${name}`)).body as { problem_definition: unknown }
    expect(problem_definition).toEqual({ __mdb_sql_task: null, target, ...('using' in more && { using: more.using }) })
  }
})

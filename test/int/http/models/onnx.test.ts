import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { limits } from '../../../../src/basics/limits.js'
import { onnxBytes, onnxTruth, softmaxModel, type HomeRow } from '../../../support/models/onnx-models.js'
import { formOf, settled } from '../../../support/models/rentals.js'
import { send, sql, startTestService } from '../../../support/service.js'
import { until } from '../../../support/until.js'

const { rows } = onnxTruth
let at: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  at = await startTestService()
  const homes = rows.map(({ sqft, age, district }, id) => `${id},${sqft},${age},${district},${1000 + id * 7}`)
  await send(at.url, 'PUT', '/api/files/homes', formOf(['id,sqft,age,district,rent', ...homes].join('\n'), 'homes.csv'))
  for (const name of ['rent', 'grade', 'grade_zipmap', 'forest', 'scores', 'trap', 'linear']) await upload(name)
  await create("CREATE MODEL rent PREDICT rent USING engine = 'onnx', file = 'rent'")
  await create("CREATE MODEL grade PREDICT grade USING engine = 'onnx', file = 'grade_zipmap'")
})
afterAll(() => at.stop())

const upload = async (name: string, bytes: Uint8Array = onnxBytes(name)): Promise<{ status: number; body: unknown }> => {
  const form = new FormData()
  form.set('file', new Blob([bytes]), `${name}.onnx`)
  return send(at.url, 'PUT', `/api/files/${name}`, form)
}

const create = async (statement: string): Promise<string> => {
  const answer = await sql(at.url, statement)
  if (answer.type === 'error') throw new Error(answer.error_message)
  return settled(at.url, String(answer.data[0]?.[0]))
}

type Answer = Record<string, unknown>
const predict = async (model: string, data: unknown[], params: Answer = {}) => {
  const { status, body } = await send(at.url, 'POST', `/api/projects/mindsdb/models/${model}/predict`, { data, params })
  return { status, body: body as Answer[] & Answer }
}

const errorOf = async (query: string): Promise<string> => (await sql(at.url, query)).error_message ?? ''

describe('an ONNX file', () => {
  test('is kept as it is: listed, but no table', async () => {
    const { body } = await send(at.url, 'GET', '/api/files/rent')
    expect(body).toMatchObject({ name: 'rent', row_count: 0, columns: [], bytes: onnxBytes('rent').length, original_name: 'rent.onnx' })
    expect(await errorOf('SELECT * FROM files.rent')).toContain('files.rent is a model, not a table')
    expect(await errorOf('INSERT INTO files.rent (SELECT 1 AS a)')).toContain('takes no rows')
    expect((await sql(at.url, 'SHOW TABLES FROM files')).data).toEqual([['homes']])
    expect((await send(at.url, 'GET', '/api/databases/files/tables')).body).toMatchObject([{ name: 'homes' }])
  })

  test('comes as the body itself, too', async () => {
    const headers = { 'content-type': 'application/x-onnx' }
    expect(await send(at.url, 'PUT', '/api/files/bare', onnxBytes('linear'), headers)).toMatchObject({
      status: 200,
      body: { name: 'bare', columns: [] },
    })
    expect((await send(at.url, 'GET', '/api/files/bare')).body).toMatchObject({ columns: [], bytes: onnxBytes('linear').length })
  })

  test('that is too large is refused while it is uploaded', async () => {
    const { status, body } = await upload('large', new Uint8Array(limits.onnxMaxBytes + 1))
    expect({ status, body }).toMatchObject({ status: 413, body: { type: expect.stringContaining('too_large') } })
    expect((await send(at.url, 'GET', '/api/files/large')).status).toBe(404)
  })
})

describe('an imported model', () => {
  test('answers over REST with what it knows, and null for what it does not', async () => {
    const [first] = rows
    const { status, body } = await predict('rent', [{ ...first, rent: 1200 }])
    expect({ status, body }).toEqual({
      status: 200,
      body: [
        {
          ...first,
          rent: expect.closeTo(Number(onnxTruth.truth['rent']?.value[0]), 1),
          __service_row_id: null,
          select_data_query: null,
          when_data: null,
          rent_original: 1200,
          rent_confidence: null,
          rent_explain: expect.any(String),
          rent_anomaly: null,
          rent_min: null,
          rent_max: null,
        },
      ],
    })
    expect(JSON.parse(String(body[0]?.['rent_explain']))).toEqual({
      predicted_value: body[0]?.['rent'],
      confidence: null,
      anomaly: null,
      truth: 1200,
      confidence_lower_bound: null,
      confidence_upper_bound: null,
    })
    const [graded] = (await predict('grade', [first])).body
    expect(graded).toMatchObject({ grade: onnxTruth.truth['grade']?.value[0], grade_confidence: expect.any(Number), grade_min: null })
    expect(Object.keys(JSON.parse(String(graded?.['grade_explain'])) as Answer)).toEqual(
      expect.arrayContaining(['probability_class_high', 'probability_class_low', 'probability_class_middle']),
    )
  })

  test.each(['rent', 'grade'])('%s gives the same bits over REST, in a JOIN, for given rows and to EVALUATE', async (model) => {
    const { body } = await predict(model, rows)
    const wanted = body.map((answer) => [answer[model], answer[`${model}_confidence`], answer[`${model}_explain`]])
    const join = await sql(
      at.url,
      `SELECT m.${model}, m.${model}_confidence, m.${model}_explain FROM (SELECT id, sqft, age, district FROM files.homes) AS t JOIN mindsdb.${model} AS m ORDER BY t.id`,
    )
    const plain = (cells: unknown[]) => [cells[0], cells[1], JSON.parse(String(cells[2])) as unknown]
    expect(join.data.map(plain)).toEqual(wanted.map(plain))
    const { sqft, age, district } = rows[7] as HomeRow
    const given = await sql(
      at.url,
      `SELECT ${model}, ${model}_confidence, ${model}_explain FROM mindsdb.${model} WHERE sqft = ${sqft} AND age = ${age} AND district = '${district}'`,
    )
    expect(given.data.map(plain)).toEqual([plain(wanted[7] ?? [])])
    const actual = (await sql(at.url, 'SELECT district, rent FROM files.homes ORDER BY id')).data.map(([place, rent]) =>
      model === 'rent' ? rent : place,
    )
    const metric = model === 'rent' ? 'mean_absolute_error' : 'accuracy_score'
    const evaluated = await sql(
      at.url,
      `EVALUATE ${metric} FROM (SELECT m.${model} AS prediction, t.${model === 'rent' ? 'rent' : 'district'} AS actual FROM files.homes AS t JOIN mindsdb.${model} AS m)`,
    )
    const errors = actual.map((value, row) =>
      model === 'rent' ? Math.abs(Number(value) - Number(wanted[row]?.[0])) : Number(value === wanted[row]?.[0]),
    )
    expect(evaluated.data[0]?.[0]).toBeCloseTo(errors.reduce((sum, error) => sum + error, 0) / errors.length, 9)
  })

  test('is tried with the value of a column that is named like a secret, and shows that value to nobody', async () => {
    await upload('whole')
    const using = (pin: string) =>
      `engine = 'onnx', file = 'whole', columns = ['pin_code', 'age'], example = {'pin_code': ${pin}, 'age': 3}`
    expect(await create(`CREATE MODEL coded PREDICT rent USING ${using('560001')}`)).toBe('complete')
    const { body } = await send(at.url, 'GET', '/api/projects/mindsdb/models/coded')
    expect(JSON.stringify(body)).not.toContain('560001')
    expect(await create(`CREATE MODEL miscoded PREDICT rent USING ${using("'seventy'")}`)).toBe('error')
    const { data } = await sql(at.url, "SELECT error FROM models WHERE name = 'miscoded'")
    expect(data).toEqual([['example has a value of "pin_code" that the model does not take: it is not usable as int64']])
  })

  test('has classes with texts as long as those of a training at most', async () => {
    await upload('softmax', softmaxModel())
    const classes = ['high', 'low'].map((name) => `'${name.padEnd(140_000, 'x')}'`).join(', ')
    const using = `engine = 'onnx', file = 'softmax', columns = ['a', 'b'], classes = [${classes}]`
    expect(await create(`CREATE MODEL lengthy PREDICT level USING ${using}`)).toBe('error')
    const { data } = await sql(at.url, "SELECT error FROM models WHERE name = 'lengthy'")
    expect(data[0]?.[0]).toMatch(/different values of .* have 280000 bytes together, at most 262144/)
  })

  test('answers no class where no probability is a number, everywhere and in the record', async () => {
    await upload('softmax', softmaxModel())
    const columns = "columns = ['a', 'b'], classes = ['high', 'low']"
    expect(await create(`CREATE MODEL unsure PREDICT level USING engine = 'onnx', file = 'softmax', ${columns}`)).toBe('complete')
    const { body } = await predict('unsure', [{ a: 1, b: 3 }, { a: 1 }])
    expect(body.map((answer) => [answer['level'], answer['level_confidence']])).toEqual([
      ['low', expect.closeTo(1 / (1 + Math.exp(-2)), 6)],
      [null, null],
    ])
    const unknown = { predicted_value: null, confidence: null, probability_class_high: null, probability_class_low: null }
    expect(JSON.parse(String(body[1]?.['level_explain']))).toMatchObject(unknown)
    const joined = await sql(
      at.url,
      'SELECT m.level, m.level_explain FROM (SELECT * FROM (VALUES (1, 1, 3), (2, 1, NULL)) AS v(id, a, b)) AS t JOIN mindsdb.unsure AS m ORDER BY t.id',
    )
    expect(joined.data.map(([level]) => level)).toEqual(['low', null])
    expect(JSON.parse(String(joined.data[1]?.[1]))).toMatchObject(unknown)
    expect((await sql(at.url, 'SELECT level FROM mindsdb.unsure WHERE a = 1')).data).toEqual([[null]])
    const recorded = "SELECT output->'$.value' AS value FROM log.predictions WHERE model = 'unsure' ORDER BY position, row"
    expect((await sql(at.url, recorded)).data).toEqual([['"low"'], ['null'], ['null']])
  })

  test('filters, groups, is read by views and explained like any other', async () => {
    const counted = await sql(at.url, "SELECT count(*) AS n FROM files.homes AS t JOIN mindsdb.grade AS m WHERE m.grade = 'high'")
    expect(counted.data).toEqual([[onnxTruth.truth['grade']?.value.filter((label) => label === 'high').length]])
    const two = await sql(
      at.url,
      'SELECT t.id, r.rent, g.grade FROM files.homes AS t JOIN mindsdb.rent AS r JOIN mindsdb.grade AS g ORDER BY t.id LIMIT 3',
    )
    expect(two.data.map(([, , grade]) => grade)).toEqual(onnxTruth.truth['grade']?.value.slice(0, 3))
    expect((await sql(at.url, 'CREATE VIEW graded AS (SELECT t.id, m.grade FROM files.homes AS t JOIN mindsdb.grade AS m)')).type).toBe(
      'ok',
    )
    expect((await sql(at.url, 'SELECT grade FROM mindsdb.graded ORDER BY id LIMIT 2')).data.flat()).toEqual(
      onnxTruth.truth['grade']?.value.slice(0, 2),
    )
    expect((await sql(at.url, 'EXPLAIN SELECT m.grade FROM files.homes AS t JOIN mindsdb.grade AS m')).type).toBe('table')
    expect(
      await errorOf(
        'SELECT t.id, (SELECT m.rent FROM mindsdb.rent AS m WHERE m.sqft = t.sqft AND m.age = t.age) AS r FROM files.homes AS t',
      ),
    ).toContain('The inputs of the imported model mindsdb.rent come from the query around it')
  })

  test('says which row it cannot take, in SQL which column', async () => {
    expect((await predict('rent', [{ sqft: 80, age: 3 }])).body).toMatchObject({
      code: 'wrong_arguments',
      detail: expect.stringContaining('Row 0, column "district"'),
    })
    expect(
      await errorOf('SELECT m.rent FROM (SELECT 80 AS sqft, 3 AS age, CAST(NULL AS VARCHAR) AS district) AS t JOIN mindsdb.rent AS m'),
    ).toContain('column "district": there is no value')
  })

  test.each([
    [{ sqft: 'abc' }, {}, 'Row 1, column "sqft": "abc" is not usable as number'],
    [{ district: 7 }, {}, 'Row 1, column "district": 7 is not usable as text'],
    [{ sqm: 70 }, {}, 'Row 1: the model has no column "sqm"'],
    [{ rent: true }, {}, 'Row 1, column "rent": true is not usable as number'],
    [{}, { confidence: 2 }, 'confidence'],
    [{}, { explain: 'contributions' }, 'an imported model cannot say what each input contributed'],
    [{}, { explain: 'shap' }, 'there is no "shap"'],
  ])('refuses %j with %j', async (change, params, reason) => {
    expect(await predict('rent', [rows[0], { ...rows[1], ...change }], params)).toMatchObject({
      status: 400,
      body: { code: 'wrong_arguments', detail: expect.stringContaining(reason) },
    })
  })

  test('takes numbers as text, as others do', async () => {
    const [first] = rows
    const { body } = await predict('rent', [first, { ...first, sqft: String(first?.sqft) }])
    expect(body[1]?.['rent']).toBe(body[0]?.['rent'])
  })

  test('has NULL in SQL for what it does not know, and an ordinary row beside one without an answer', async () => {
    const unknown = 'm.rent_confidence, m.rent_min, m.rent_max, m.rent_anomaly, m.rent_explain'
    const { data } = await sql(
      at.url,
      `SELECT ${unknown}, m.rent > 0 FROM (SELECT *, 1 AS one FROM files.homes) AS t JOIN mindsdb.rent AS m LIMIT 1`,
    )
    expect(data).toEqual([[null, null, null, null, expect.stringContaining('"confidence_lower_bound": null'), true]])
    expect(
      (await sql(at.url, 'SELECT count(m.rent_min), max(m.rent_confidence) FROM files.homes AS t JOIN mindsdb.rent AS m')).data,
    ).toEqual([[0, null]])
  })

  test('has no metrics, and says what it is', async () => {
    const [info] = (await send(at.url, 'GET', '/api/projects/mindsdb/models/grade/describe?attribute=info')).body as Answer[]
    expect(info).toMatchObject({ inputs: ['sqft', 'age', 'district'], outputs: ['grade'] })
    expect((await sql(at.url, 'DESCRIBE mindsdb.grade.features')).data.map(([column]) => column)).toEqual([
      'sqft',
      'age',
      'district',
      'grade',
    ])
    expect((await send(at.url, 'GET', '/api/projects/mindsdb/models/grade')).body).toMatchObject({
      engine: 'onnx',
      accuracy: null,
      predict: 'grade',
    })
  })

  test.each(['metrics', 'importances', 'data', 'plan', 'classes', 'confusion', 'calibration', 'jobs', 'model', 'jsonai'])(
    'is described by %s, where there is something to say',
    async (attribute) => {
      const { error_message, data } = await sql(at.url, `DESCRIBE mindsdb.grade.${attribute}`)
      const silent = ['metrics', 'importances', 'classes', 'confusion', 'calibration'].includes(attribute)
      if (silent) expect(error_message).toContain(`Version 1 of grade has no ${attribute}`)
      else expect(data).not.toEqual([])
      if (attribute === 'data') expect(data.map(([fact]) => fact)).toEqual(expect.arrayContaining(['sha256', 'bytes', 'opsets', 'runtime']))
    },
  )

  test('records what it answers, and one receipt for a JOIN', async () => {
    await predict('rent', [rows[0]])
    await sql(at.url, 'SELECT m.rent FROM files.homes AS t JOIN mindsdb.rent AS m')
    const { data } = await sql(
      at.url,
      "SELECT type, data->>'$.rows' FROM log.events WHERE type = 'PredictionsServed' ORDER BY position DESC LIMIT 2",
    )
    expect(data).toEqual([
      ['PredictionsServed', String(rows.length)],
      ['PredictionsServed', '1'],
    ])
  })

  test('gets another version from another content of its file; the one before answers as before', async () => {
    await create("CREATE MODEL swapped PREDICT rent USING engine = 'onnx', file = 'linear', columns = ['sqft', 'age']")
    const [before] = (await predict('swapped', [rows[0]].map(bare))).body
    await send(at.url, 'DELETE', '/api/files/linear')
    await upload('linear', onnxBytes('boosted'))
    expect((await sql(at.url, 'RETRAIN swapped')).type).toBe('table')
    expect(await settled(at.url, 'swapped.2')).toBe('complete')
    const [after] = (await predict('swapped', [rows[0]].map(bare))).body
    expect(after?.['rent']).not.toBe(before?.['rent'])
    expect((await predict('swapped.1', [rows[0]].map(bare))).body[0]?.['rent']).toBe(before?.['rent'])
  })

  test('is made under a name of one’s own for the engine, too', async () => {
    expect((await sql(at.url, 'CREATE ML_ENGINE importer FROM onnx')).type).toBe('ok')
    expect(await create("CREATE MODEL fetched USING engine = 'importer', file = 'rent'")).toBe('complete')
    expect((await predict('fetched', rows.slice(0, 1))).body[0]?.['prediction']).toBe(
      (await predict('rent', rows.slice(0, 1))).body[0]?.['rent'],
    )
    expect((await sql(at.url, "RETRAIN fetched USING file = 'forest', columns = ['sqft', 'age']")).type).toBe('table')
    expect(await settled(at.url, 'fetched.2')).toBe('complete')
    expect(await errorOf("CREATE MODEL no USING engine = 'importer'")).toContain('"file" is missing')
    expect(await errorOf("CREATE MODEL no USING engine = 'imported', file = 'rent'")).toContain('There is no engine "imported"')
    expect(await errorOf('FINETUNE fetched FROM files (SELECT * FROM homes)')).toContain('fetched was imported')
  })

  test('that never comes back is stopped, over REST and in SQL, and the service answers others meanwhile', async () => {
    expect(await create("CREATE MODEL trap USING engine = 'onnx', file = 'trap', columns = ['a', 'b']")).toBe('complete')
    expect((await predict('trap', [{ a: 80, b: 1 }])).body[0]).toMatchObject({ prediction: 81 })
    const others = async () => {
      expect((await predict('rent', [rows[0]])).status).toBe(200)
      expect((await sql(at.url, 'SELECT 1 AS one')).data).toEqual([[1]])
      return 'others'
    }
    // A busy machine may need longer for the others than the limit of the one that hangs.
    await until(async () => {
      const hung = predict('trap', [{ a: 666, b: 0 }])
      const inSql = sql(at.url, 'SELECT m.prediction FROM (SELECT 666 AS a, 0 AS b) AS t JOIN mindsdb.trap AS m')
      const answered = others()
      const first = await Promise.race([hung.then(() => 'hung'), answered])
      await answered
      expect(await hung).toMatchObject({ status: 400, body: { title: 'The model took too long' } })
      expect((await inSql).error_message).toContain('took longer than')
      return first === 'others'
    })
    expect((await predict('trap', [{ a: 81, b: 1 }])).body[0]).toMatchObject({ prediction: 82 })
  })
})

describe('what became true of an imported model', () => {
  const predicted = async (model: string, data: unknown[]): Promise<Answer[]> => {
    const answer = await send(at.url, 'POST', `/api/projects/mindsdb/models/${model}/predict`, data, { 'x-request-id': `${model}-1` })
    expect(answer.status).toBe(200)
    return answer.body as Answer[]
  }
  const report = (model: string, truths: unknown[]) =>
    send(
      at.url,
      'POST',
      `/api/projects/mindsdb/models/${model}/outcomes`,
      truths.map((truth, row) => ({ request: `${model}-1`, row, truth })),
    )
  const probabilities = async (model: string): Promise<unknown[]> =>
    (await sql(at.url, `SELECT probability FROM log.outcomes WHERE prediction_request = '${model}-1' ORDER BY "row"`)).data.flat()
  const measured = async (model: string): Promise<unknown[] | undefined> =>
    (await sql(at.url, `SELECT outcomes, accuracy, log_loss, mae, coverage FROM log.accuracy WHERE model = '${model}'`)).data[0]

  test('costs by the probability that its process says again', async () => {
    const answers = await predicted('grade', rows.slice(0, 4))
    const truths = ['high', 'low', 'middle', 'nowhere']
    expect(await report('grade', truths)).toMatchObject({ status: 200, body: { rows: 4 } })
    const explained = answers.map((answer) => JSON.parse(String(answer['grade_explain'])) as Record<string, number>)
    expect(await probabilities('grade')).toEqual(truths.map((truth, row) => explained[row]?.[`probability_class_${truth}`] ?? 0))
    expect(await measured('grade')).toEqual([4, expect.any(Number), expect.any(Number), null, null])
    expect(await report('grade', [5])).toMatchObject({ status: 400, body: { hint: 'Expected a text.' } })
  })

  test('of two classes asks for the other one, too', async () => {
    await create("CREATE MODEL dear USING engine = 'onnx', file = 'forest', columns = ['sqft', 'age']")
    await predicted('dear', rows.slice(0, 2).map(bare))
    expect(await report('dear', [0, 1])).toMatchObject({ status: 200 })
    const given = onnxTruth.truth['forest']?.probabilities ?? []
    expect(await probabilities('dear')).toEqual([expect.closeTo(given[0]?.[0] ?? -1, 5), expect.closeTo(given[1]?.[1] ?? -1, 5)])
  })

  test('has no probability where the model gives scores, and none of numbers', async () => {
    await create("CREATE MODEL scored USING engine = 'onnx', file = 'scores', columns = ['sqft', 'age']")
    await predicted('scored', rows.slice(0, 2).map(bare))
    expect(await report('scored', ['high', 'low'])).toMatchObject({ status: 200 })
    expect(await probabilities('scored')).toEqual([null, null])
    expect(await measured('scored')).toEqual([2, 0.5, null, null, null])
    const [answer] = await predicted('rent', rows.slice(0, 1))
    expect(await report('rent', [1000])).toMatchObject({ status: 200 })
    expect(await measured('rent')).toEqual([1, null, null, expect.closeTo(Math.abs(Number(answer?.['rent']) - 1000), 6), null])
  })
})

const bare = (row: HomeRow | undefined) => ({ sqft: row?.sqft, age: row?.age })

describe('a statement that imports', () => {
  test.each([
    ["CREATE MODEL x USING engine = 'onnx'", 'the statement names none'],
    ["CREATE MODEL x FROM files (SELECT * FROM homes) PREDICT rent USING engine = 'onnx', file = 'rent'", 'it does not learn from rows'],
    ["CREATE MODEL x USING engine = 'onnx', file = 'rent', colums = ['a']", '"colums" is not an option of the engine onnx'],
    ["CREATE MODEL x USING engine = 'onnx', file = 'rent', columns = 'a'", '"columns" is "a", expected the names of all columns'],
    ["CREATE MODEL x PREDICT rent ORDER BY day HORIZON 3 USING engine = 'onnx', file = 'rent'", 'is not an option of the engine onnx'],
    ["CREATE MODEL x USING engine = 'auto'", 'PREDICT'],
    ['FINETUNE rent FROM files (SELECT * FROM homes)', 'rent was imported'],
    ['RETRAIN rent FROM files (SELECT * FROM homes)', 'it does not learn from rows'],
    ["RETRAIN rent USING engine = 'auto'", 'does not import files'],
  ])('%s is refused', async (statement, reason) => {
    expect(await errorOf(statement)).toContain(reason)
  })

  test.each([
    ["CREATE MODEL e1 USING engine = 'onnx', file = 'nowhere'", 'nowhere does not exist'],
    ["CREATE MODEL e2 USING engine = 'onnx', file = 'homes'", 'files.homes is a table'],
    ["CREATE MODEL e3 USING engine = 'onnx', file = 'broken'", 'it is cut off'],
    ["CREATE MODEL e4 USING engine = 'onnx', file = 'custom'", '"com.acme"'],
    ["CREATE MODEL e5 USING engine = 'onnx', file = 'external'", 'external data'],
    ["CREATE MODEL e6 USING engine = 'onnx', file = 'rent', output = 'y'", 'no output "y"'],
  ])('%s ends with the reason', async (statement, reason) => {
    if (statement.includes("'broken'")) await upload('broken', onnxBytes('grade').subarray(0, 700))
    for (const name of ['custom', 'external']) if (statement.includes(`'${name}'`)) await upload(name)
    expect(await create(statement)).toBe('error')
    const name = statement.split(' ')[2] ?? ''
    expect((await send(at.url, 'GET', `/api/projects/mindsdb/models/${name}`)).body).toMatchObject({
      error: expect.stringContaining(reason),
    })
    expect(await predict(name, [{}])).toMatchObject({ status: 409 })
  })
})

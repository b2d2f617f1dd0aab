import { beforeAll, describe, expect, it } from '@jest/globals'
import { answerRows } from '../../../src/models/serving/predict-rows.js'
import { findEngine } from '../../../src/models/engines/engines.js'
import { loadPredictor, type Predictor } from '../../../src/models/engines/tabular/predictor.js'
import { matrixOf, mixture, penguins } from './tables.js'
import { engineInfos } from '../../../src/catalogue/engines.js'
import { train } from '../../support/models/train.js'

const explained = (text: unknown): Record<string, unknown> => JSON.parse(String(text)) as Record<string, unknown>

describe('the answer for a number', () => {
  let predictor: Predictor
  beforeAll(() => {
    predictor = loadPredictor(train(matrixOf(mixture(150, 2)), { target: 'price', preset: 'fast' }).artefact)
  })

  it('echoes a number that a double cannot hold as the number that the model read', async () => {
    const [row] = await answerRows(predictor, [{ place: 'west', size: '9007199254740993' }])
    expect(row).toMatchObject({ size: 9007199254740992 })
  })

  it('takes few rows at once if a row takes long', async () => {
    const turns: number[] = []
    const slow = Object.create(predictor) as Predictor
    slow.predictBatch = (features, rows, out, level) => {
      turns.push(rows)
      for (const end = performance.now() + 4 * rows; performance.now() < end;);
      predictor.predictBatch(features, rows, out, level)
    }
    const sent = Array.from({ length: 60 }, (_, size) => ({ size }))
    expect(await answerRows(slow, sent)).toEqual(await answerRows(predictor, sent))
    expect(turns[0]).toBe(16)
    expect(Math.max(...turns.slice(1))).toBeLessThanOrEqual(5)
  })

  it('has the documented columns: sent inputs first, with the types of their columns, then the others', async () => {
    const [row] = await answerRows(predictor, [{ place: 'west', size: '40' }])
    expect(Object.keys(row!)).toEqual([
      'place',
      'size',
      'garden',
      'day',
      'seen',
      'price',
      '__service_row_id',
      'select_data_query',
      'when_data',
      'price_original',
      'price_confidence',
      'price_explain',
      'price_anomaly',
      'price_min',
      'price_max',
    ])
    expect(row).toMatchObject({
      place: 'west',
      size: 40,
      garden: null,
      price: expect.any(Number),
      __service_row_id: null,
      select_data_query: null,
      when_data: null,
      price_original: null,
      price_confidence: 0.9,
      price_anomaly: null,
    })
    expect(Number(row!['price_min'])).toBeLessThan(Number(row!['price']))
  })

  it('explains itself', async () => {
    const [row] = await answerRows(predictor, [{ size: 40 }])
    expect(explained(row!['price_explain'])).toEqual({
      predicted_value: row!['price'],
      confidence: 0.9,
      anomaly: null,
      truth: null,
      confidence_lower_bound: row!['price_min'],
      confidence_upper_bound: row!['price_max'],
    })
  })

  it('compares with the truth when it is sent, and does not learn from it', async () => {
    const [without, near, far] = await answerRows(predictor, [{ size: 40 }, { size: 40, price: 250 }, { size: 40, Price: '99999' }])
    expect([near!['price'], far!['price']]).toEqual([without!['price'], without!['price']])
    expect([near!['price_original'], far!['price_original']]).toEqual([250, 99999])
    expect([near!['price_anomaly'], far!['price_anomaly']]).toEqual([false, true])
    expect(explained(far!['price_explain'])).toMatchObject({ truth: 99999, anomaly: true })
  })

  it('gives wider bounds for a higher level', async () => {
    const width = async (confidence: number) => {
      const [row] = await answerRows(predictor, [{ size: 40 }], { confidence })
      expect(row!['price_confidence']).toBe(confidence)
      return Number(row!['price_max']) - Number(row!['price_min'])
    }
    expect(await width(0.99)).toBeGreaterThan(await width(0.5))
  })

  it('answers nothing for nothing, and refuses what it cannot use', async () => {
    expect(await answerRows(predictor, [])).toEqual([])
    await expect(answerRows(predictor, [{}, { size: 'abc' }])).rejects.toThrow('Row 1, column "size"')
    await expect(answerRows(predictor, [{ price: 'abc' }])).rejects.toThrow('Row 0, column "price": "abc" is not usable as number')
    await expect(answerRows(predictor, [{}], { confidence: '0.9' })).rejects.toThrow('"confidence" is "0.9"')
    const many = Array.from({ length: 10_001 }, () => ({}))
    await expect(answerRows(predictor, many)).rejects.toThrow('10001 rows were sent')
  })
})

describe('the answer for a class', () => {
  it('has the class in its own type, its probability and those of all classes, and bounds that are not known', async () => {
    const predictor = loadPredictor(train(matrixOf(penguins()), { target: 'Species', preset: 'fast' }).artefact)
    const [row] = await answerRows(predictor, [{ 'Beak Length (mm)': 39, 'Flipper Length (mm)': 181, Species: 'Gentoo' }])
    expect(row).toMatchObject({
      Species: 'Adelie',
      Species_original: 'Gentoo',
      Species_anomaly: null,
      Species_min: null,
      Species_max: null,
    })
    const explain = explained(row!['Species_explain'])
    expect(Object.keys(explain)).toEqual([
      'predicted_value',
      'confidence',
      'anomaly',
      'truth',
      'confidence_lower_bound',
      'confidence_upper_bound',
      'probability_class_Adelie',
      'probability_class_Chinstrap',
      'probability_class_Gentoo',
    ])
    expect(explain).toMatchObject({
      predicted_value: 'Adelie',
      confidence: row!['Species_confidence'],
      probability_class_Adelie: row!['Species_confidence'],
    })
  })

  it('refuses rows whose explanations would need too much memory', async () => {
    const predictor = loadPredictor(train(matrixOf(mixture(100, 6)), { target: 'garden', preset: 'fast' }).artefact)
    const { target } = predictor
    const long = { ...predictor, target: { ...target, classes: ['a', 'b'].map((letter) => letter.repeat(64 * 1024)) } }
    const rows = Array.from({ length: 3_000 }, () => ({ size: 5 }))
    await expect(answerRows(long, rows)).rejects.toMatchObject({
      code: 'too_large',
      detail: expect.stringContaining('explanations of 3000 rows'),
    })
    expect(await answerRows(predictor, rows)).toHaveLength(3_000)
  })

  it('keeps a boolean a boolean', async () => {
    const predictor = loadPredictor(train(matrixOf(mixture(100, 6)), { target: 'garden', preset: 'fast' }).artefact)
    expect(typeof (await answerRows(predictor, [{ size: 5 }]))[0]!['garden']).toBe('boolean')
  })
})

describe('engines', () => {
  it('are all named with what they are', () => {
    for (const { name, standsFor } of engineInfos) expect(findEngine(name).name).toBe(standsFor ?? name)
  })

  it('go by several names', () => {
    expect(engineInfos.map(({ name }) => name)).toEqual(['auto', 'boosted_trees', 'linear', 'forecast', 'onnx', 'constant', 'lightwood'])
    expect(new Set(['Lightwood', 'auto', undefined].map((name) => findEngine(name).name))).toEqual(new Set(['auto']))
  })

  it('are listed when one is unknown', () => {
    expect(() => findEngine('openai')).toThrow(
      'There is no engine "openai"; the engines are auto, boosted_trees, linear, forecast, onnx, constant, lightwood',
    )
  })
})

import { describe, expect, test } from '@jest/globals'
import { answerRows, type InputRow } from '../../../src/models/serving/predict-rows.js'
import { decodeArtefact, encodeArtefact, type TabularModel } from '../../../src/models/engines/tabular/artefact.js'
import type { Explanation } from '../../../src/models/serving/explain.js'
import { limits } from '../../../src/basics/limits.js'
import { coefficientsOf, type LinearTerm } from '../../../src/models/engines/tabular/linear/design.js'
import { loadPredictor, type Predictor } from '../../../src/models/engines/tabular/predictor.js'
import { train } from '../../support/models/train.js'
import { asObjects, friedman, matrixOf, mixture, type Table } from './tables.js'

const trained = (table: Table, target: string): TabularModel => decodeArtefact(train(matrixOf(table), { target, preset: 'fast' }).artefact)

/** The model with a linear part of any weight beside its trees, as a blend has it; the folds of a small table may choose none. */
const withWeight = (model: TabularModel, weight: number): Predictor => {
  let size = 0
  const terms = model.features.map((feature): LinearTerm => {
    const at = size
    size += coefficientsOf(feature)
    if (feature.kind === 'category') return { kind: 'category', at, missing: size - 1 }
    return { kind: 'number', at, missing: at + 1, mean: 0.5, deviation: 2, low: -1, high: 50 }
  })
  const results = model.classes.length > 2 ? model.classes.length : 1
  const weights = Float64Array.from({ length: (size + 1) * results }, (_, i) => Math.sin(i + 1))
  return loadPredictor(encodeArtefact({ ...model, linear: { terms, weights }, weight }))
}

type Explained = { answer: Record<string, unknown>; contributions: Explanation; probabilities: Map<string, number> }

const explained = async (predictor: Predictor, rows: readonly InputRow[]): Promise<Explained[]> => {
  const answers = await answerRows(predictor, rows, { explain: 'contributions' })
  return answers.map((answer) => {
    const { contributions, ...rest } = JSON.parse(String(answer[`${predictor.target.name}_explain`])) as Record<string, unknown>
    const probabilities = Object.entries(rest).flatMap(([key, value]): [string, number][] =>
      key.startsWith('probability_class_') ? [[key.slice('probability_class_'.length), Number(value)]] : [],
    )
    return { answer, contributions: contributions as Explanation, probabilities: new Map(probabilities) }
  })
}

const added = ({ base, inputs, rest }: Explanation) => Object.values(inputs).reduce((sum, part) => sum + part, base) + rest

const friedmans = friedman(300, 4)
const mixtures = mixture(300, 3)

/** The same inputs with classes for the target. */
const classesOf = (classOf: (y: number) => string | boolean, type: 'text' | 'boolean'): Table => ({
  columns: friedmans.columns.map((column) => (column.name === 'y' ? { ...column, type } : column)),
  rows: friedmans.rows.map((row) => [...row.slice(0, -1), classOf(Number(row.at(-1)))]),
})

describe('contributions add up', () => {
  test('to a number, with what rounding adds', async () => {
    const rounded: Table = {
      columns: mixtures.columns.map((column) => (column.name === 'price' ? { ...column, type: 'integer' } : column)),
      rows: mixtures.rows.map((row) => row.map((value, i) => (i === 5 ? Math.round(Number(value)) : value))),
    }
    const rows = asObjects(rounded, 'price').slice(0, 40)
    const model = trained(rounded, 'price')
    expect(model.rounded).toBe(true)
    for (const { answer, contributions } of await explained(loadPredictor(encodeArtefact(model)), rows)) {
      expect(contributions).toMatchObject({ method: expect.stringContaining('Saabas'), scale: 'value', sum: answer['price'] })
      expect(Object.keys(contributions.inputs)).toEqual(['size', 'place', 'garden', 'day', 'seen'])
      expect(added(contributions)).toBeCloseTo(Number(answer['price']), 8)
      expect(Math.abs(contributions.rest)).toBeLessThanOrEqual(0.5 + 1e-9)
    }
  })

  test('to a blend of trees and a linear model, whatever its weight', async () => {
    const model = trained(friedmans, 'y')
    for (const weight of [0, 0.25, 0.75, 1])
      for (const { answer, contributions } of await explained(withWeight(model, weight), asObjects(friedmans, 'y').slice(0, 20))) {
        expect(contributions.sum).toBe(answer['y'])
        expect(Math.abs(contributions.rest)).toBeLessThan(1e-9)
      }
  })

  test('to the log-odds of one of two classes, whichever was predicted', async () => {
    const table = classesOf((y) => y > 15, 'boolean')
    const model = trained(table, 'y')
    expect(model.trees).toBeDefined()
    const said = (
      await Promise.all([0, 0.25, 1].map((weight) => explained(withWeight(model, weight), asObjects(table, 'y').slice(0, 60))))
    ).flat()
    expect(new Set(said.map(({ answer }) => answer['y']))).toEqual(new Set([true, false]))
    for (const { answer, contributions, probabilities } of said) {
      const probability = probabilities.get(String(answer['y']))!
      expect(contributions.scale).toBe(`log-odds of ${String(answer['y'])}`)
      expect(contributions.sum).toBeGreaterThanOrEqual(0)
      expect(contributions.sum).toBeCloseTo(Math.log(probability / (1 - probability)), 8)
      expect(added(contributions)).toBeCloseTo(contributions.sum, 8)
    }
  })

  test('to the centred logarithm of the probability of one of several classes, mixed or not', async () => {
    const table = classesOf((y) => (y < 12 ? 'low' : y < 17 ? 'middle' : 'high'), 'text')
    const model = trained(table, 'y')
    expect(model.trees).toBeDefined()
    for (const weight of [0, 0.5, 1])
      for (const { answer, contributions, probabilities } of await explained(
        withWeight(model, weight),
        asObjects(table, 'y').slice(0, 40),
      )) {
        const logs = [...probabilities.values()].map(Math.log)
        const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length
        expect(contributions.scale).toBe(`log-probability of ${JSON.stringify(answer['y'])} less the mean over the classes`)
        expect(contributions.sum).toBeCloseTo(Math.log(probabilities.get(String(answer['y']))!) - mean, 6)
        expect(added(contributions)).toBeCloseTo(contributions.sum, 8)
        if (weight === 0 || weight === 1) expect(contributions.rest).toBe(0)
      }
  })

  test('in a model of an earlier release too, which did not keep how many rows a leaf holds', async () => {
    const { covers, ...older } = trained(friedmans, 'y')
    expect(covers).toBeDefined()
    const rows = asObjects(friedmans, 'y').slice(0, 10)
    const [now, then] = [withWeight({ ...older, covers }, 0), withWeight(older, 0)]
    const [of, ofOlder] = [await explained(now, rows), await explained(then, rows)]
    expect(ofOlder.map(({ answer }) => answer['y'])).toEqual(of.map(({ answer }) => answer['y']))
    for (const { contributions } of ofOlder) expect(Math.abs(contributions.rest)).toBeLessThan(1e-9)
    expect(ofOlder[0]!.contributions.base).not.toBe(of[0]!.contributions.base)
  })
})

describe('contributions tell what matters', () => {
  test('the base is what is predicted on average, and inputs without effect contribute little', async () => {
    const model = trained(friedmans, 'y')
    const said = await explained(withWeight(model, 0), asObjects(friedmans, 'y'))
    const mean = said.reduce((sum, { answer }) => sum + Number(answer['y']), 0) / said.length
    expect(said[0]!.contributions.base).toBeCloseTo(mean, 0)
    const weightOf = (name: string) => said.reduce((sum, { contributions }) => sum + Math.abs(contributions.inputs[name]!), 0)
    for (const noise of ['x5', 'x6', 'x7', 'x8', 'x9']) expect(weightOf(noise)).toBeLessThan(weightOf('x3') / 5)
  })
})

test('what cannot be explained is refused', async () => {
  const predictor = loadPredictor(train(matrixOf(mixture(100, 1)), { target: 'price', preset: 'fast' }).artefact)
  await expect(answerRows(predictor, [{}], { explain: 'shap' })).rejects.toThrow('there is no "shap"')
  await expect(answerRows(predictor, [{}], { explain: true })).rejects.toThrow('there is no true')
  const many = Array.from({ length: limits.explainMaxRows + 1 }, () => ({}))
  await expect(answerRows(predictor, many, { explain: 'contributions' })).rejects.toThrow(`at most ${limits.explainMaxRows} are explained`)
  const { contributions: _, ...mute } = predictor
  await expect(answerRows(mute, [{}], { explain: 'contributions' })).rejects.toThrow('cannot say what each input contributed')
  const [plain] = await answerRows(predictor, [{}], { explain: null })
  expect(String(plain!['price_explain'])).not.toContain('contributions')
})

import type { ScoringModel } from '../../../src/sql/engine/scoring/scoring-model.js'

/** A linear model as JSON: numbers by weight, texts by the weight of their category. */
export type FakeModel = {
  target: string
  inputs: { name: string; type: 'number' | 'text'; weight?: number; categories?: Record<string, number> }[]
  classes?: string[]
  /** The amount of work per row, to imitate a large model. */
  burn?: number
}

/** The interface of a model for SQL: value = the weighted sum, bounds ±10; a classifier chooses its first class for sums below 0. */
export const loadFakeModel = (artefact: Uint8Array): ScoringModel => {
  const fake = JSON.parse(Buffer.from(artefact).toString()) as FakeModel
  const feature = (input: FakeModel['inputs'][number], value: unknown) => {
    if (value === null || value === undefined) return NaN
    if (input.type === 'text') return typeof value === 'string' ? (input.categories?.[value] ?? 0) : 0
    const number = Number(value)
    if (Number.isNaN(number) && value !== 'NaN' && typeof value === 'string') throw new Error(`"${input.name}": ${value} is not a number`)
    return number * (input.weight ?? 0)
  }
  const width = fake.inputs.length
  const outputWidth = 4 + (fake.classes?.length ?? 0)
  const predictBatch: ScoringModel['predictBatch'] = (features, rows, out, level = 0.9) => {
    for (let row = 0; row < rows; row++) {
      let sum = 0
      for (let i = 0; i < width; i++) sum += Number.isNaN(features[row * width + i]) ? 0 : features[row * width + i]!
      for (let i = 0; i < (fake.burn ?? 0); i++) sum += Math.sin(i) * 1e-12
      const value = fake.classes ? (sum < 0 ? 0 : 1) : sum
      out.set(
        fake.classes ? [value, 0.75, NaN, NaN, value ? 0.25 : 0.75, value ? 0.75 : 0.25] : [value, level, value - 10, value + 10],
        row * outputWidth,
      )
    }
  }
  return {
    inputs: fake.inputs.map(({ name, type }) => ({ name, type })),
    target: { name: fake.target, ...(fake.classes && { classes: fake.classes }) },
    width,
    outputWidth,
    encodeColumns: (columns, rows, into) => {
      fake.inputs.forEach((input, i) => {
        for (let row = 0; row < rows; row++) into[row * width + i] = feature(input, columns[i]?.values[row])
      })
    },
    encodeRow: (row, _index, into, offset) => {
      fake.inputs.forEach((input, i) => (into[offset + i] = feature(input, row[input.name])))
    },
    predictBatch,
    predictPoints: (features, rows, out) => {
      predictBatch(features, rows, out)
      if (!fake.classes) for (let row = 0; row < rows; row++) out.fill(NaN, row * outputWidth + 2, row * outputWidth + 4)
    },
  }
}

export const fakeArtefact = (model: FakeModel): Uint8Array => Buffer.from(JSON.stringify(model))

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isProblem } from '../../../../src/basics/errors.js'
import { limits } from '../../../../src/basics/limits.js'
import { importOnnx } from '../../../../src/models/engines/onnx/import.js'
import type { OnnxOptions } from '../../../../src/catalogue/onnx-options.js'
import type { OnnxLimits } from '../../../../src/models/engines/onnx/process.js'
import { field, fieldsIn } from '../../../../src/models/engines/onnx/wire.js'
import { loadModel } from '../../../../src/models/engines/load.js'
import { isRemote } from '../../../../src/models/engines/contract/remote.js'
import { onnxBytes, onnxPath, onnxTruth, type HomeRow } from '../../../support/models/onnx-models.js'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'mindledger-onnx-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const imported = (name: string, options: Partial<OnnxOptions> = {}, file = onnxPath(name), bounds: Partial<OnnxLimits> = {}) =>
  importOnnx({ file, work: join(directory, 'work.onnx'), target: 'rent', options: { file: name, ...options }, bounds })

/** The numbers that a model gives for rows, `outputWidth` for each. */
const predicted = async (name: string, rows: readonly Record<string, unknown>[], options: Partial<OnnxOptions> = {}) => {
  const { artefact } = await imported(name, options)
  const file = join(directory, name)
  writeFileSync(file, artefact)
  const model = loadModel(artefact, file)
  if (!isRemote(model)) throw new TypeError('an imported model runs elsewhere')
  const out = await model.predictRows(rows)
  const width = model.outputWidth
  return { model, rows: rows.map((_, row) => [...out.subarray(row * width, (row + 1) * width)]) }
}

const columns = ['sqft', 'age']
const { rows, truth } = onnxTruth
const numbersOf = ({ sqft, age }: HomeRow) => ({ sqft, age })

describe('an imported model predicts what scikit-learn predicts', () => {
  test.each([
    ['linear', numbersOf, { columns }],
    ['boosted', numbersOf, { columns }],
    ['whole', numbersOf, { columns }],
    ['rent', (row: HomeRow) => row, {}],
  ] as const)('%s: a regression', async (name, inputs, options) => {
    const given = { ...options, ...('columns' in options && { columns: [...columns] }) }
    const { model, rows: found } = await predicted(name, rows.map(inputs), given)
    expect(model).toMatchObject({ kind: 'regression', target: { name: 'rent', type: 'number' } })
    found.forEach(([value, confidence, min, max], row) => {
      const wanted = Number(truth[name]?.value[row])
      expect(Math.abs((value ?? NaN) - wanted) / wanted).toBeLessThan(1e-5)
      expect([confidence, min, max]).toEqual([NaN, NaN, NaN])
    })
  })

  test.each([
    ['grade', 'grade', {}],
    ['grade_zipmap', 'grade', {}],
    ['forest', 'forest', { columns: [...columns] }],
    ['forest_zipmap', 'forest', { columns: [...columns] }],
    ['neighbours', 'neighbours', { columns: [...columns], classes: ['high', 'low', 'middle'] }],
  ])('%s: classes with their probabilities', async (name, of, options) => {
    const inputs = rows.map((row) => ('columns' in options ? numbersOf(row) : row))
    const { model, rows: found } = await predicted(name, inputs, options)
    const { value = [], classes, probabilities = [] } = truth[of] ?? {}
    expect(model.target.classes).toEqual(classes)
    found.forEach(([index, confidence, min, max, ...shares], row) => {
      expect(model.target.classes?.[index ?? -1]).toBe(value[row])
      shares.forEach((share, label) => expect(share).toBeCloseTo(probabilities[row]?.[label] ?? NaN, 5))
      expect(confidence).toBe(shares[index ?? -1])
      expect([min, max]).toEqual([NaN, NaN])
    })
  })

  test('scores are no probabilities: the class is known, how sure it is is not', async () => {
    const { report } = await imported('scores', { columns })
    expect(report.warnings).toEqual([{ kind: 'onnx', detail: expect.stringContaining('gives scores') }])
    const { model, rows: found } = await predicted('scores', rows.map(numbersOf), { columns })
    expect(found.map(([index]) => model.target.classes?.[index ?? -1])).toEqual(truth['scores']?.value)
    expect(found.every(([, confidence]) => Number.isNaN(confidence))).toBe(true)
  })

  test('scores without labels name the class of the largest one, and are no confidence either', async () => {
    writeFileSync(join(directory, 'bare.onnx'), scoresAlone())
    const bare = await importOnnx({
      file: join(directory, 'bare.onnx'),
      work: join(directory, 'work.onnx'),
      target: 'rent',
      options: { file: 'bare', columns },
    })
    expect(bare.report.warnings).toEqual([{ kind: 'onnx', detail: expect.stringContaining('there is no confidence') }])
    const file = join(directory, 'bare')
    writeFileSync(file, bare.artefact)
    const model = loadModel(bare.artefact, file)
    if (!isRemote(model)) throw new TypeError('an imported model runs elsewhere')
    const out = await model.predictRows(rows.map(numbersOf))
    const found = rows.map((_, row) => [...out.subarray(row * model.outputWidth, (row + 1) * model.outputWidth)])
    expect(found.map(([index]) => model.target.classes?.[index ?? -1])).toEqual(truth['scores']?.value)
    expect(found.flatMap(([, ...others]) => others).every(Number.isNaN)).toBe(true)
  })
})

/** The file of scores without its labels: the graph's outputs (field 12) but the first. */
const scoresAlone = (): Buffer => {
  const parts = [...fieldsIn(onnxBytes('scores'))].map(({ number, bytes, start, end }) => {
    if (number !== 7) return onnxBytes('scores').subarray(start, end)
    const fields = [...fieldsIn(bytes)]
    const first = fields.find((each) => each.number === 12)
    return field(7, Buffer.concat(fields.flatMap((each) => (each === first ? [] : [bytes.subarray(each.start, each.end)]))))
  })
  return Buffer.concat(parts)
}

describe('an import', () => {
  test('gives the same bytes for the same file, and says what it found', async () => {
    const [one, other] = [await imported('grade_zipmap'), await imported('grade_zipmap')]
    expect(Buffer.compare(one.artefact, other.artefact)).toBe(0)
    expect(one.report).toMatchObject({
      engine: { name: 'onnx' },
      task: 'multiclass',
      classes: ['high', 'low', 'middle'],
      inputs: [
        { name: 'sqft', type: 'number', role: 'number' },
        { name: 'age', type: 'number', role: 'number' },
        { name: 'district', type: 'text', role: 'category' },
      ],
      onnx: { bytes: onnxBytes('grade_zipmap').length, producer: 'skl2onnx', batch: 16, operators: 10 },
    })
  })

  test('gives a model one row at a time whose rows depend on each other', async () => {
    const { report } = await imported('mean')
    expect(report).toMatchObject({
      onnx: { batch: 1 },
      warnings: [{ kind: 'onnx', detail: expect.stringContaining('depend on the rows') }],
    })
  })

  test('answers the labels that the model gives where it has scores for them, not probabilities', async () => {
    const { value } = truth['clusters'] ?? {}
    const { model, rows: found } = await predicted('clusters', rows.map(numbersOf), { columns, classes: [0, 1, 2] })
    expect(found.map(([index]) => model.target.classes?.[index ?? -1])).toEqual(value)
    await expect(imported('clusters', { columns, classes: ['a', 'b', 'c'] })).rejects.toMatchObject({
      code: 'wrong_arguments',
      detail: expect.stringContaining('not among the classes a, b, c'),
    })
  })

  test('renames classes in the order of the probabilities', async () => {
    const { model, rows: found } = await predicted('forest', rows.map(numbersOf), { columns, classes: ['cheap', 'dear'] })
    expect(model.target.classes).toEqual(['cheap', 'dear'])
    expect(found.map(([index]) => index)).toEqual(truth['forest']?.value)
  })

  test.each<[string, Partial<OnnxOptions>, string, RegExp]>([
    ['custom', {}, 'bad_file', /"com.acme"/],
    ['external', {}, 'bad_file', /external data/],
    ['random', {}, 'bad_file', /other numbers for the same rows each time/],
    ['linear', { columns: ['a', 'rent_max'] }, 'wrong_arguments', /"rent_max" is also a column of the answers/],
    ['image', {}, 'bad_file', /"X" \[\?, 3, 8, 8\] is no table/],
    ['hungry', {}, 'bad_file', /160000000000/],
    ['neighbours', {}, 'wrong_arguments', /does not name its 3 classes/],
    ['linear', { columns: ['a'] }, 'wrong_arguments', /columns names 1 columns, the model has 2: "X" \[\?, 2\]/],
    ['linear', { columns: ['a', 'A'] }, 'wrong_arguments', /Two columns of the model are called "A"/],
    ['linear', { columns: ['a', 'Rent'] }, 'wrong_arguments', /"rent" is a column of the model/],
    ['linear', { output: 'label' }, 'wrong_arguments', /no output "label"; it has "variable"/],
    ['linear', { example: { X_2: 1 } }, 'wrong_arguments', /example has a column "X_2"/],
    ['whole', { columns, example: { sqft: 'a secret' } }, 'wrong_arguments', /^example has a value of "sqft" that the model does not take/],
    ['grade', { classes: ['a', 'b'] }, 'wrong_arguments', /classes names 2 classes, the model gives 3/],
    ['grade', { classes: ['a', 'b', 'b'] }, 'wrong_arguments', /same name/],
  ])('%s %j is refused', async (name, options, code, detail) => {
    await expect(imported(name, options)).rejects.toMatchObject({ code, detail: expect.stringMatching(detail) })
  })

  test('of a file that never comes to an end is stopped', async () => {
    await expect(imported('endless', {}, onnxPath('endless'), { runTimeoutMs: 1_000 })).rejects.toMatchObject({
      code: 'query_limit',
      detail: expect.stringContaining('longer than 1000 ms'),
    })
  })

  test('of a file that is too large is refused before it is read', async () => {
    const file = join(directory, 'large.onnx')
    writeFileSync(file, Buffer.alloc(limits.onnxMaxBytes + 1))
    await expect(imported('large', {}, file)).rejects.toMatchObject({ code: 'too_large' })
  })
})

describe('a row of an imported model', () => {
  test('is checked like any other, and may leave out what floats stand for', async () => {
    const { model } = await predicted('rent', [])
    const refusal = (row: Record<string, unknown>) =>
      model.predictRows([rows[0] ?? {}, row]).then(
        () => '',
        (error: unknown) => (isProblem(error) ? error.detail : String(error)),
      )
    expect(await refusal({ sqft: 'large', age: 3, district: 'north' })).toBe('Row 1, column "sqft": "large" is not usable as number')
    expect(await refusal({ sqft: 80, age: 3 })).toMatch(/^Row 1, column "district": there is no value/)
    expect(await refusal({ sqft: 80, Sqft: 80, district: 'north' })).toMatch(/"sqft" is there twice/)
    expect(await refusal({ size: 80, district: 'north' })).toMatch(/no column "size"/)
    const out = await model.predictRows([
      { sqft: '80', district: 'north' },
      { sqft: 80, district: 'elsewhere', age: 4 },
    ])
    expect(out[0]).toBeNaN()
    expect(out[model.outputWidth]).toBeGreaterThan(0)
  })

  test('of whole numbers takes nothing else', async () => {
    const { model } = await predicted('whole', [], { columns })
    for (const sqft of [1.5, null, 2 ** 60])
      await expect(model.predictRows([{ sqft, age: 1 }])).rejects.toMatchObject({ code: 'wrong_arguments' })
  })
})

import { describe, expect, test } from '@jest/globals'
import { fc } from '../../../support/random/properties.js'
import { isProblem } from '../../../../src/basics/errors.js'
import { inspectOnnx } from '../../../../src/models/engines/onnx/inspect.js'
import { field, numberField } from '../../../../src/models/engines/onnx/wire.js'
import { unzipped } from '../../../../src/models/engines/onnx/zipmap.js'
import { onnxBytes } from '../../../support/models/onnx-models.js'

/** What reading gives: its problem's detail, or nothing when the bytes are a model. Anything else that is thrown fails the test. */
const refusalOf = (bytes: Uint8Array): string | undefined => {
  try {
    inspectOnnx(bytes)
    unzipped(bytes)
    return undefined
  } catch (error) {
    if (!isProblem(error)) throw error
    return `${error.code}: ${error.detail}`
  }
}

const text = (value: string) => Buffer.from(value)
const model = (...graph: Buffer[]) => Buffer.concat([numberField(1, 8), field(7, Buffer.concat(graph))])
const node = (operator: string, domain: string, ...more: Buffer[]) =>
  field(1, Buffer.concat([field(4, text(operator)), field(7, text(domain)), ...more]))

describe('an ONNX file before it is loaded', () => {
  test('says its operators and its classes', () => {
    expect(inspectOnnx(onnxBytes('grade'))).toMatchObject({
      irVersion: 8,
      producer: 'skl2onnx',
      opsets: { '': 17, 'ai.onnx.ml': 1 },
      nodes: 8,
      classes: ['high', 'low', 'middle'],
    })
    expect(inspectOnnx(onnxBytes('forest')).classes).toEqual([0, 1])
    expect(inspectOnnx(onnxBytes('neighbours')).classes).toBeUndefined()
  })

  test('is refused with operators that are not the runtime’s, also deep inside', () => {
    expect(refusalOf(onnxBytes('custom'))).toContain('"com.acme"')
    const hidden = node('If', '', field(5, field(6, node('Twist', 'com.acme'))))
    expect(refusalOf(model(hidden))).toContain('"com.acme"')
    expect(refusalOf(model(node('Gelu', 'com.microsoft')))).toBeUndefined()
    const defined = field(25, Buffer.concat([field(10, text('com.acme')), field(7, text(''))]))
    expect(refusalOf(Buffer.concat([model(node('Twist', 'com.acme')), defined]))).toBeUndefined()
  })

  test('is refused with weights in another file, wherever the tensor stands', () => {
    expect(refusalOf(onnxBytes('external'))).toContain('external data')
    const away = [numberField(14, 1), field(13, field(1, text('location')))]
    for (const said of away) {
      expect(refusalOf(model(field(5, said)))).toContain('external data')
      expect(refusalOf(model(field(15, field(1, said))))).toContain('external data')
      expect(refusalOf(model(node('Constant', '', field(5, field(5, said)))))).toContain('external data')
      expect(refusalOf(model(node('If', '', field(5, field(11, field(5, said))))))).toContain('external data')
    }
  })

  test('is refused when it is another format, or nested without end', () => {
    expect(refusalOf(Buffer.concat([Buffer.from([0x20, 0, 0, 0]), text('ORTM'), Buffer.alloc(40)]))).toContain('ORT format')
    expect(refusalOf(text('sqft,rent\n80,1200\n'))).toMatch(/^bad_file/)
    expect(refusalOf(Buffer.alloc(0))).toContain('there is no graph')
    expect(refusalOf(Buffer.concat([model(), field(7, text(''))]))).toContain('more than one graph')
    let graph = node('Identity', '')
    for (let depth = 0; depth < 200; depth++) graph = node('If', '', field(5, field(6, graph)))
    expect(refusalOf(model(graph))).toContain('nested deeper')
    expect(refusalOf(Buffer.from([0x3a, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x01]))).toContain('cut off')
    expect(refusalOf(Buffer.alloc(30, 0xff))).toContain('never ends')
  })

  test('may hold any number of numbers, but labels of no more classes than can be predicted', () => {
    const attribute = (name: string, packed: Buffer) =>
      model(node('Classifier', 'ai.onnx.ml', field(5, Buffer.concat([field(1, text(name)), field(8, packed)]))))
    const many = Buffer.alloc(500_000, 1)
    expect(refusalOf(attribute('nodes_featureids', many))).toBeUndefined()
    expect(inspectOnnx(attribute('classlabels_ints', Buffer.from([0, 7, 0x80, 2]))).classes).toEqual([0, 7, 256])
    expect(refusalOf(attribute('classlabels_ints', many))).toBe(
      'query_limit: The model has more than 256 classes, the most that are predicted',
    )
    expect(refusalOf(attribute('classlabels_ints', Buffer.alloc(500_000, 0xff)))).toContain('never ends')
  })

  test('that is cut off anywhere is refused, and nothing breaks', () => {
    for (const name of ['grade_zipmap', 'forest', 'endless']) {
      const bytes = onnxBytes(name)
      const whole = Array.from({ length: bytes.length }, (_, size) => refusalOf(bytes.subarray(0, size))).filter(
        (refusal) => refusal === undefined,
      )
      // The last fields of a file are the versions of its operators: without some of them it is a model still.
      expect(whole.length).toBeLessThan(8)
    }
  })

  test('with any bytes changed is read, or refused with a problem', () => {
    const bytes = onnxBytes('grade_zipmap')
    const changes = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(changes, (changed) => {
        const copy = Buffer.from(bytes)
        for (const [at, byte] of changed) copy[at] = byte
        expect(refusalOf(copy)).not.toBe('')
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('a ZipMap', () => {
  test('is taken away, and its classes are kept', () => {
    const { bytes, classes } = unzipped(onnxBytes('grade_zipmap'))
    expect(classes).toEqual(['high', 'low', 'middle'])
    expect(Buffer.from(bytes).includes('ZipMap')).toBe(false)
    expect(inspectOnnx(bytes).nodes).toBe(inspectOnnx(onnxBytes('grade_zipmap')).nodes - 1)
    expect(unzipped(onnxBytes('forest_zipmap')).classes).toEqual([0, 1])
  })

  test('that is not there changes nothing', () => {
    const bytes = onnxBytes('grade')
    expect(unzipped(bytes)).toEqual({ bytes, classes: undefined })
  })
})

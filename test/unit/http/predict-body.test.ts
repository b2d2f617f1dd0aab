import { expect, test } from '@jest/globals'
import { limits } from '../../../src/basics/limits.js'
import { predictBody } from '../../../src/http/routes/predict.js'

const read = async (json: unknown) => predictBody.read({ method: 'POST', json, isOther: false })

test('rows come bare, wrapped, as columns, or as text', async () => {
  const rows = [{ a: 1 }, { a: 2 }]
  for (const body of [rows, { data: rows }, { data: { a: [1, 2] } }, { data: JSON.stringify(rows) }, { data: '{"a": [1, 2]}' }])
    expect(await read(body)).toEqual({ rows, params: {} })
})

test('rows of another media type are refused as such, and no body as a missing one', async () => {
  await expect(predictBody.read({ method: 'POST', json: undefined, isOther: true })).rejects.toMatchObject({ code: 'wrong_media_type' })
  await expect(read(undefined)).rejects.toMatchObject({ code: 'missing_parameter' })
})

test('a column beyond the limit is refused before a row is made of it', async () => {
  const data = { a: new Array(3_000_000).fill(1) }
  const before = process.memoryUsage().heapUsed
  await expect(read({ data })).rejects.toThrow(`a request takes at most ${limits.predictMaxRows}`)
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000)
})

test('the document describes every form that is taken, and no other', async () => {
  const rows = [{ a: 1 }, { a: null }]
  const columns = { a: [1, null], b: ['x', 'y'] }
  const data = [rows, columns, JSON.stringify(rows), JSON.stringify(columns)]
  for (const body of [
    rows,
    ...data.map((one) => ({ data: one })),
    { data: rows, params: null },
    { data: columns, params: { version: 1 } },
  ]) {
    expect((await read(body)).rows).toHaveLength(2)
    expect(predictBody.schema?.safeParse(body)).toMatchObject({ success: true })
  }
  for (const body of [{}, { data: 1 }, { data: [1] }, { data: { a: 1 } }, { data: rows, params: 1 }]) {
    await expect(read(body)).rejects.toThrow()
    expect(predictBody.schema?.safeParse(body)).toMatchObject({ success: false })
  }
})

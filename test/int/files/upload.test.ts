import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import express, { type NextFunction, type Request, type Response } from 'express'
import * as z from 'zod'
import { isProblem } from '../../../src/basics/errors.js'
import { receiveUpload } from '../../../src/files/upload.js'
import { until } from '../../support/until.js'
import { inDirectory } from '../../unit/files/tables.js'

type Server = { port: number; directory: string; problems: unknown[] }
const maxBytes = 1_000_000

/** A real server with the one route, over a directory of its own. */
const withServer = (use: (server: Server) => Promise<void>) =>
  inDirectory(async (directory) => {
    const problems: unknown[] = []
    const app = express()
    app.put('/files/:name', async (req, res) => {
      const { file, fields, ...upload } = await receiveUpload(req, directory, maxBytes)
      res.json({ ...upload, fields: Object.fromEntries(fields), text: (await readFile(file, 'utf8')).slice(0, 100) })
    })
    app.use((error: unknown, _req: Request, res: Response, next: NextFunction) => {
      if (res.headersSent) {
        next(error)
        return
      }
      problems.push(error)
      if (isProblem(error)) res.status(error.status).json({ code: error.code, detail: error.detail })
      else res.status(500).json({ detail: String(error) })
    })
    const server = app.listen(0, '127.0.0.1')
    try {
      await new Promise((listening) => server.once('listening', listening))
      const address = server.address()
      if (address === null || typeof address === 'string') throw new Error('The server has no port.')
      await use({ port: address.port, directory, problems })
    } finally {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    }
  })

type Body = string | FormData | ReadableStream<Uint8Array>

const put = async ({ port }: Server, type: string | undefined, body: Body, headers: Record<string, string> = {}) => {
  const response = await fetch(`http://127.0.0.1:${port}/files/x`, {
    method: 'PUT',
    body,
    duplex: 'half',
    headers: { ...headers, ...(type !== undefined && { 'content-type': type }) },
  })
  return { status: response.status, answer: z.record(z.string(), z.unknown()).parse(await response.json()) }
}

const part = (disposition: string, content: string, type?: string) =>
  `--bound\r\nContent-Disposition: form-data; ${disposition}\r\n${type === undefined ? '' : `Content-Type: ${type}\r\n`}\r\n${content}\r\n`
const form = (...parts: string[]) => `${parts.join('')}--bound--\r\n`
const formType = 'multipart/form-data; boundary=bound'

/** A body without a length, in pieces that cut boundaries in two. */
const chunked = (text: string, size = 7) =>
  new ReadableStream<Uint8Array>({
    start: (controller) => {
      const bytes = Buffer.from(text)
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.subarray(at, at + size))
      controller.close()
    },
  })

const csv = 'a,b\n1,Zoë\n'
const sha256 = createHash('sha256').update(csv).digest('hex')
const received = { bytes: Buffer.byteLength(csv), sha256, text: csv }

describe('an upload is received', () => {
  test('chunked, with a file part that calls itself a form', () =>
    withServer(async (server) => {
      const body = form(part('name="original_file_name"', 'a.csv'), part('name="file"; filename="a.csv"', csv, 'multipart/form-data'))
      for (const size of [1, 7, 1000]) {
        const { status, answer } = await put(server, formType, chunked(body, size))
        expect([status, answer]).toEqual([200, { ...received, originalName: 'a.csv', fields: { original_file_name: 'a.csv' } }])
      }
    }))

  test('with a length, and a text field of the same name as the file', () =>
    withServer(async (server) => {
      const fields = [
        part('name="file"', 'rentals'),
        part('name="name"', 'rentals'),
        part('name="source_type"', 'file'),
        part('name="more"', 'ünï'),
      ]
      const { status, answer } = await put(server, formType, form(...fields, part('name="file"; filename="a.csv"', csv)))
      expect([status, answer]).toEqual([
        200,
        { ...received, originalName: 'a.csv', fields: { file: 'rentals', name: 'rentals', source_type: 'file', more: 'ünï' } },
      ])
    }))

  test('as bytes without a filename', () =>
    withServer(async (server) => {
      const { status, answer } = await put(server, formType, form(part('name="file"', csv, 'application/octet-stream')))
      expect([status, answer]).toEqual([200, { ...received, originalName: '', fields: {} }])
    }))

  test('from the form of the platform', () =>
    withServer(async (server) => {
      const data = new FormData()
      data.set('file', new Blob([csv], { type: 'text/csv' }), '../../etc/ä.csv')
      const { status, answer } = await put(server, undefined, data)
      expect([status, answer]).toEqual([200, { ...received, originalName: 'ä.csv', fields: {} }])
    }))

  test.each([
    ['text/csv; charset=utf-8', 'csv'],
    ['text/tab-separated-values', 'csv'],
    ['application/x-ndjson', 'json'],
    ['application/vnd.apache.parquet', 'parquet'],
  ])('as a raw body of %s', (type, format) =>
    withServer(async (server) => {
      const { status, answer } = await put(server, type, chunked(csv))
      expect([status, answer]).toEqual([200, { ...received, originalName: '', fields: {}, format }])
    }),
  )

  test('up to the limit', () =>
    withServer(async (server) => {
      const { status, answer } = await put(server, formType, form(part('name="file"; filename="a.csv"', 'x'.repeat(maxBytes))))
      expect([status, answer['bytes']]).toEqual([200, maxBytes])
    }))
})

const filePart = part('name="file"; filename="a.csv"', csv)

describe('an upload is refused, and nothing stays', () => {
  test.each([
    ['no file', formType, form(part('name="name"', 'x')), 400, 'wrong_arguments', 'no file'],
    ['no part at all', formType, '--bound--\r\n', 400, 'wrong_arguments', 'no file'],
    ['two files', formType, form(filePart, part('name="other"; filename="b.csv"', csv)), 400, 'wrong_arguments', 'more than one file'],
    ['an empty file', formType, form(part('name="file"; filename="a.csv"', '')), 400, 'bad_file', 'empty'],
    ['an empty raw body', 'text/csv', '', 400, 'bad_file', 'empty'],
    ['an empty form', formType, '', 400, 'wrong_arguments', ''],
    ['no boundary', 'multipart/form-data', form(filePart), 400, 'wrong_arguments', 'boundary'],
    ['another boundary', 'multipart/form-data; boundary=other', form(filePart), 400, 'wrong_arguments', ''],
    ['a form that ends within the file', formType, filePart, 400, 'wrong_arguments', 'malformed'],
    ['a form that ends within a header', formType, '--bound\r\nContent-Disposition: form-da', 400, 'wrong_arguments', ''],
    ['text that is no form', formType, 'a,b\n1,2\n', 400, 'wrong_arguments', ''],
    [
      'a file beyond the limit',
      formType,
      form(part('name="file"; filename="a.csv"', 'x'.repeat(3 * maxBytes))),
      413,
      'too_large',
      'larger than',
    ],
    ['a raw body beyond the limit', 'text/csv', 'x'.repeat(3 * maxBytes), 413, 'too_large', 'larger than'],
    ['a field beyond its limit', formType, form(part('name="name"', 'x'.repeat(100_000)), filePart), 413, 'too_large', '"name"'],
    [
      'too many fields',
      formType,
      form(...Array.from({ length: 40 }, () => part('name="x"', 'x')), filePart),
      400,
      'wrong_arguments',
      'fields',
    ],
    [
      'a part without any name',
      formType,
      form(`--bound\r\nContent-Type: application/octet-stream\r\n\r\n${csv}\r\n`),
      400,
      'wrong_arguments',
      'no file',
    ],
    ['an empty part without a filename', formType, form(part('name="file"', '', 'application/octet-stream')), 400, 'bad_file', 'empty'],
    ['another type', 'application/zip', 'x', 415, 'wrong_media_type', 'text/csv'],
  ])('%s', (_, type, body, status, code, detail) =>
    withServer(async (server) => {
      const refused = await put(server, type, body)
      expect([refused.status, refused.answer['code']]).toEqual([status, code])
      expect(refused.answer['detail']).toContain(detail)
      expect(await readdir(server.directory)).toEqual([])
      expect((await put(server, formType, form(filePart))).status).toBe(200)
    }),
  )

  test('a compressed body', () =>
    withServer(async (server) => {
      expect((await put(server, 'text/csv', csv, { 'content-encoding': 'gzip' })).status).toBe(415)
    }))

  test.each([
    [
      'a form',
      `Content-Type: ${formType}\r\nTransfer-Encoding: chunked`,
      `${(Buffer.byteLength(filePart) + 6).toString(16)}\r\n${filePart}more x`,
    ],
    ['a form with a length', `Content-Type: ${formType}\r\nContent-Length: 100000`, filePart],
    ['a form before its file', `Content-Type: ${formType}\r\nContent-Length: 100000`, '--bound\r\nContent-Disp'],
    ['a raw body', 'Content-Type: text/csv\r\nContent-Length: 100000', csv],
  ])('%s whose sender goes in the middle', (_, headers, sent) =>
    withServer(async (server) => {
      const socket = connect(server.port, '127.0.0.1')
      socket.write(`PUT /files/x HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n${sent}`)
      await until(async () => (await readdir(server.directory)).length === 1)
      socket.destroy()
      await until(() => server.problems.length > 0)
      expect(server.problems).toMatchObject([{ code: 'wrong_arguments' }])
      expect(await readdir(server.directory)).toEqual([])
    }),
  )
})

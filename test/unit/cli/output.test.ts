import { expect, test } from '@jest/globals'
import { createOutput } from '../../../src/cli/terminal/output.js'

const streams = (isTTY: boolean) => {
  const written = { out: '', err: '' }
  return {
    written,
    stdout: { write: (text: string) => (written.out += text) },
    stderr: { isTTY, write: (text: string) => (written.err += text) },
  }
}

test('on a terminal progress is one line, which is gone before a result', () => {
  const { written, ...to } = streams(true)
  const out = createOutput(to)
  out.progress('1 of 2')
  out.progress('2 of 2')
  expect(written).toEqual({ out: '', err: '\r1 of 2\x1b[K\r2 of 2\x1b[K' })
  out.line('done')
  expect(written).toEqual({ out: 'done\n', err: '\r1 of 2\x1b[K\r2 of 2\x1b[K\r\x1b[K' })
})

test('elsewhere it is a line every ten seconds, and a short run has none', () => {
  let time = 0
  const { written, ...to } = streams(false)
  const out = createOutput({ ...to, now: () => time })
  for (; time <= 25_000; time += 500) out.progress(`at ${time}`)
  out.line('done')
  expect(written).toEqual({ out: 'done\n', err: 'at 10000\nat 20000\n' })
})

test('quiet, there is none', () => {
  for (const isTTY of [true, false]) {
    let time = 0
    const { written, ...to } = streams(isTTY)
    const out = createOutput({ ...to, quiet: true, now: () => (time += 60_000) })
    out.progress('1 of 2')
    out.line('done')
    expect(written).toEqual({ out: 'done\n', err: '' })
  }
})

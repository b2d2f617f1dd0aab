import { closeSync, existsSync, openSync, writeSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { pino } from 'pino'
import { readConfig } from '../../src/setup/config.js'
import { startService } from '../../src/main.js'
import { dataPaths } from '../../src/setup/data-directory.js'
import { TrainingService } from '../../src/models/training/training-service.js'
import { freePort, mindledger } from '../support/cli.js'
import { temporaryDirectory } from '../support/service.js'

let place: ReturnType<typeof temporaryDirectory>
beforeEach(() => {
  place = temporaryDirectory()
})
afterEach(() => {
  jest.restoreAllMocks()
  place.remove()
})

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
    socket.unref()
  })

test('a start that fails after the port was taken gives the port and the directory back', async () => {
  const port = await freePort()
  const config = readConfig({ PORT: String(port), DATA_DIR: place.path })
  jest.spyOn(TrainingService.prototype, 'resume').mockRejectedValueOnce(new Error('no trainings'))
  await expect(startService(config, pino({ level: 'silent' }))).rejects.toThrow('no trainings')
  expect(await isOpen(port)).toBe(false)
  const again = await startService(config, pino({ level: 'silent' }))
  await again.close()
})

test('a log that is damaged where the start writes is told of in a line, and not as a fault of the program', async () => {
  const service = await startService(readConfig({ PORT: '0', DATA_DIR: place.path }), pino({ level: 'silent' }))
  await service.close()
  const file = dataPaths(place.path).log
  const log = new Database(file)
  const page = log.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'resources_in_order'").pluck().get() as number
  const bytes = log.pragma('page_size', { simple: true }) as number
  log.close()
  const handle = openSync(file, 'r+')
  writeSync(handle, Buffer.alloc(bytes, 0xa5), 0, bytes, (page - 1) * bytes)
  closeSync(handle)
  const { code, err } = await mindledger(['serve'], { PORT: '0', DATA_DIR: place.path })
  expect({ code, err }).toEqual({ code: 2, err: 'mindledger: the data directory cannot be used: database disk image is malformed\n' })
})

test.each(['site=berlin', 'old [1]', 'all*', 'which?'])('a data directory below %s is refused: DuckDB reads more in it', async (name) => {
  const config = readConfig({ PORT: '0', DATA_DIR: join(place.path, name, 'data') })
  await expect(startService(config, pino({ level: 'silent' }))).rejects.toThrow('cannot be used as data directory')
  expect(existsSync(join(place.path, name))).toBe(false)
})

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { afterEach, expect, jest, test } from '@jest/globals'
import { dataPaths } from '../../../src/setup/data-directory.js'
import { findMasterKeys } from '../../../src/vault/key-files.js'
import { testKey } from '../../support/log/log.js'
import { temporaryDirectory } from '../../support/service.js'

const directory = temporaryDirectory()
afterEach(() => {
  jest.restoreAllMocks()
  syncBuiltinESMExports()
  directory.remove()
})

test('the end of a rotation may remove the next key while another process reads the keys', () => {
  const paths = dataPaths(directory.path)
  fs.writeFileSync(paths.vaultKey, `${testKey.toString('hex')}\n`)
  // Whoever looks at a file may see it a moment before it is gone.
  jest.spyOn(fs, 'existsSync').mockReturnValue(true)
  syncBuiltinESMExports()
  expect(findMasterKeys(paths)).toEqual([testKey])
})

import { expect, test } from '@jest/globals'
import { readConfig } from '../../../src/setup/config.js'

const keys = { VAULT_KEY: 'ab'.repeat(32), HEAD_KEY: 'cd'.repeat(32) }

/** How a setting is shown. */
const shown = (name: string, value: string): string | null | undefined =>
  readConfig({ ...keys, [name]: value }).settings.find((setting) => setting.name === name)?.value

test.each([
  ['LOG_URL', 'postgres://me:hidden@db:5432/ledger', 'postgres://db:5432/ledger'],
  ['LOG_URL', 'postgres://me:hidden@a:5432,b:5432/ledger', 'postgres://a:5432/ledger, postgres://b:5432/ledger'],
  ['LOG_URL', 'postgres://me:hid@den%2F@a,b/ledger?sslmode=require', 'postgres://a/ledger, postgres://b/ledger'],
  ['LOG_URL', 'postgres://a,b/ledger?user=me&password=hidden', 'postgres://a/ledger, postgres://b/ledger'],
  ['LOG_URL', 'postgres:///ledger?host=/run/postgresql&password=hidden', 'postgres:///run/postgresql/ledger'],
  ['BLOBS_URL', 's3://key:hidden@ledger/blobs?endpoint=http://key:hidden@minio:9000', 's3://ledger/blobs'],
  ['EXPORT_URL', 's3://ledger/history?region=eu&secret=hidden', 's3://ledger/history'],
  ['EXPORT_URL', 's3://key:hid/den@ledger/history', '******'],
  ['EXPORT_URL', 's3://key:12/hidden@ledger/history', '******'],
  ['HEAD_FILE', 'https://me:hidden@a:b/heads', '******'],
  ['HEAD_FILE', '/mnt/elsewhere/heads.txt', '/mnt/elsewhere/heads.txt'],
])('%s=%s is shown without a secret', (name, value, expected) => expect(shown(name, value)).toBe(expected))

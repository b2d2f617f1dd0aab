import { expect, test } from '@jest/globals'
import { keyForms } from '../../../src/vault/looks-secret.js'
import { loadModule } from '../../support/console/load-module.js'
import { knownKeys, secretKeys } from '../../support/secret-keys.js'

type Secrets = { withoutSecrets: (text: string) => string; keyBeginnings: readonly string[] }
const { withoutSecrets, keyBeginnings } = await loadModule<Secrets>('basics/secrets.ts')

test.each([
  'SELECT * FROM f JOIN d ON f.customer_key = d.customer_key WHERE date_key = 20240101 AND a.token = b.token',
  `SELECT token, count(*) FROM t WHERE token = :token AND city = 'Berlin' GROUP BY token`,
  `SELECT * FROM t WHERE customer_key = 'A-17' AND password IS NULL AND name = 'ann'`,
  `SELECT {'customer_key': d.customer_key, 'token': a.token} AS s, token::VARCHAR, lower(token) FROM t`,
  `SELECT * FROM t WHERE id IN (SELECT token FROM u WHERE city = 'Berlin') AND t.token = "u"."token" AND a.token=b.token`,
  `CREATE MODEL m PREDICT x USING model = 'gpt-4o-mini', max_tokens = 100, primary_key = 'id'`,
  `INSERT INTO t (name, size) VALUES ('ann', 1)`,
  'Which token is missing, and who has the key?',
])('a text without a secret is kept as it is: %s', (text) => {
  expect(withoutSecrets(text)).toBe(text)
})

test.each([
  `SELECT * FROM shop_db (ALTER ROLE a PASSWORD 'planted')`,
  `SELECT * FROM shop_db (CREATE USER a IDENTIFIED BY 'planted')`,
  `SELECT * FROM t WHERE lower(password) = 'planted' OR password IN ('planted', 'planted') OR token = 'planted'`,
  `SELECT * FROM t WHERE params->>'password' = 'planted'`,
  `SELECT 'ALTER ROLE a PASSWORD ''planted'''`,
  `SET PASSWORD = PASSWORD('planted')`,
  `INSERT INTO users (name, password) VALUES ('ann', 'planted')`,
  `CREATE DATABASE a USING dsn = 'host=h user=u password=planted'`,
  '{"name": "X-API-Key", "value": "planted"}',
  '["Authorization", "Basic planted"]',
  '{"headers": [["Authorization", "Basic planted"]], "api_keys": ["planted", "planted"]}',
  String.raw`{"text": "{\"password\": \"planted\"}"}`,
  '{"pin": 7777, "consumer_key": "planted"}',
  'my password is planted9',
  'password: planted',
  'ask with sk-plantedplantedplanted9',
  'post it to https://hooks.slack.com/services/planted',
  'read postgres://ann:planted@db.example/shop',
])('no secret is kept of %s', (text) => {
  expect(withoutSecrets(text)).not.toMatch(/planted|7777/)
  expect(withoutSecrets(text)).toContain('******')
})

test.each(knownKeys)('no key is kept that its form tells: %s', (text) => {
  expect(withoutSecrets(text).replace('use ', '').replace(' for it', '')).toBe('******')
})

test.each([...keyForms.map(({ source }) => source), ...keyBeginnings])(
  'the keys that both lists must know have one of the form %s',
  (form) => {
    expect(knownKeys.filter((key) => new RegExp(`\\b${form.replace(/^\\b/, '')}`).test(key))).not.toEqual([])
  },
)

test('what stands around a secret is kept, and what was masked stays so', () => {
  const masked = withoutSecrets(`{"database": "files", "api_key": "sk-planted", "pin": 7, "tables": ["homes"]}`)
  expect(masked).toBe('{"database": "files", "api_key": "******", "pin": "******", "tables": ["homes"]}')
  expect(withoutSecrets(masked)).toBe(masked)
  const all = JSON.stringify(Object.fromEntries(secretKeys.map((key, i) => [key, `planted-${i}`])))
  expect(withoutSecrets(all)).not.toContain('planted')
})

test('many blanks hide no secret, and take no longer than other text', () => {
  expect(withoutSecrets(`password${' '.repeat(300)}= 'planted'`)).not.toContain('planted')
  const blank = `password${' '.repeat(2_000_000)}`
  expect(withoutSecrets(blank)).toBe(blank)
})

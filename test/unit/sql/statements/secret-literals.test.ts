import { describe, expect, test } from '@jest/globals'
import { fc } from '../../../support/random/properties.js'
import type { Json } from '../../../../events/common.js'
import { atOnce } from '../../../../src/basics/long-work.js'
import { lex } from '../../../../src/dialect/lexer.js'
import { findSecretLiterals } from '../../../../src/dialect/secret-literals.js'
import { cutSecrets } from '../../../../src/dialect/mask-secrets.js'
import { sealSecrets } from '../../../../src/vault/seal-secrets.js'
import { Vault } from '../../../../src/vault/vault.js'
import { testKey } from '../../../support/log/log.js'

const found = (sql: string) => atOnce(findSecretLiterals(lex(sql))).map(({ token }) => token.value)

describe('a text that stands for a secret is found', () => {
  test.each([
    "SELECT * FROM skills WHERE params->>'password' = 'S'",
    "SELECT * FROM t WHERE password = 'S' AND name = 'b'",
    "SELECT * FROM t WHERE t.params['api_key'] <> 'S'",
    "SELECT * FROM t WHERE 'S' = t.password",
    "SELECT * FROM t WHERE lower(password) LIKE 'S'",
    "SELECT * FROM t WHERE password::VARCHAR IS NOT DISTINCT FROM 'S'",
    "SELECT * FROM t WHERE json_extract_string(params, '$.password') = 'S'",
    "SELECT * FROM t WHERE password = md5('S')",
    "SELECT * FROM t WHERE password COLLATE NOCASE = 'S'",
    "SELECT 'S' AS api_key",
    "SELECT 'S'::VARCHAR AS api_key",
    "SELECT 'S' password FROM t",
    "SELECT {'password': 'S', 'name': 'b'}",
    "SELECT struct_pack(password := 'S', name := 'b')",
  ])('%s', (sql) => expect(found(sql)).toEqual(['S']))

  test('each of a list', () => expect(found("SELECT * FROM t WHERE password IN ('S', 'T') AND a = 'b'")).toEqual(['S', 'T']))
  test.each(['hunter2-7', 'hG7x22kq'])('under a name that has other meanings, %s', (text) => {
    expect(found(`SELECT * FROM t WHERE token = '${text}'`)).toEqual([text])
    expect(found(`SELECT json_object('api_key', '${text}')`)).toEqual([text])
  })
  test('by itself', () => expect(found("SELECT * FROM read('postgres://u:p@h', 'a')")).toEqual(['postgres://u:p@h']))
})

test.each([
  'SELECT password, token FROM users ORDER BY token',
  'SELECT count(token) FROM t GROUP BY token HAVING count(*) > 5',
  'SELECT * FROM a JOIN b ON a.token = b.token',
  "SELECT * FROM t WHERE password IS NOT NULL AND name = 'b'",
  "SELECT * FROM t WHERE password IS NULL OR name LIKE 'b'",
  "SELECT * FROM t WHERE password = '' OR password = '******'",
  "SELECT * FROM t WHERE password = other AND name = 'b'",
  "SELECT * FROM t WHERE has_password AND name = 'b'",
  "SELECT * FROM t WHERE password AND name = 'b'",
  "SELECT * FROM words WHERE token = 'the'",
  "SELECT * FROM t WHERE name = 'password'",
  "SELECT * FROM t WHERE name IN ('password', 'token')",
  "SELECT password FROM t WHERE name = 'b'",
  "SELECT password FROM (VALUES ('b')) AS t (name)",
  "SELECT password(name, 'b') FROM t",
  'SELECT max_tokens = 5, "api_key" FROM t',
  "SELECT * FROM t WHERE password IN (SELECT word FROM w WHERE kind = 'b')",
  "SELECT CASE WHEN password IS NULL THEN 'a' ELSE 'b' END AS state FROM t",
])('nothing is found in %s', (sql) => expect(found(sql)).toEqual([]))

test('what params would be sealed for is cut from the statement that has them', () => {
  const vault = new Vault(testKey)
  const value = fc.constantFrom('hG7x22kq', 'postgres://u:hG7x22kq@h/db', 'Bearer hG7x22kq', 'host=h password=hG7x22kq', '--token hG7x22kq')
  const key = fc.constantFrom(
    'api_key',
    'dbpass',
    'auth',
    'jwt',
    'tokens',
    'openai_key',
    'private_key_pem',
    'webhook_url',
    'k',
    'url',
    'name',
  )
  const params = fc.letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 3 },
      value,
      fc.constantFrom<Json>('plain', 5, null, true),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(key, tie('json'), { maxKeys: 3 }),
      fc.record({ name: key, value }),
      value.map((text) => ({ $seal: text })),
    ),
  })).json
  fc.assert(
    fc.property(key, params, (name, sent) => {
      const sealed = JSON.stringify(sealSecrets(vault, { [name]: sent }).value)
      const cut = cutSecrets(`CREATE SKILL s USING type = 't', ${name} = ${JSON.stringify(sent)}`)
      if (!sealed.includes('hG7x22kq')) expect(cut).not.toContain('hG7x22kq')
    }),
    { numRuns: 2000 },
  )
})

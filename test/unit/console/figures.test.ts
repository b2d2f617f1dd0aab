import { expect, test } from '@jest/globals'
import { loadModule } from '../../support/console/load-module.js'

type Module = { figure: (value: number | null, gap?: number) => string; isNumeric: (type: string) => boolean }
const { figure, isNumeric } = await loadModule<Module>('components/value.ts')

test.each(['TINYINT', 'INTEGER', 'UBIGINT', 'HUGEINT', 'UHUGEINT', 'BIGNUM', 'DOUBLE', 'FLOAT', 'DECIMAL(10,2)', 'decimal(10, 2)'])(
  '%s is a type of numbers',
  (type) => expect(isNumeric(type)).toBe(true),
)
test.each(['INTERVAL', 'VARCHAR', 'DOUBLE[]', 'FLOAT[384]', 'DECIMAL(10,2)[]', 'STRUCT(a INTEGER)', 'INTEGER[3]', 'DATE'])(
  '%s is none',
  (type) => expect(isNumeric(type)).toBe(false),
)

test.each([
  [null, undefined, ''],
  [0, undefined, '0'],
  [12_345.6, undefined, '12,346'],
  [0.123456, undefined, '0.1235'],
  [0.9999997, undefined, '0.9999997'],
  [0.99991, undefined, '0.99991'],
  [1, undefined, '1'],
  [719.962, 0.08, '719.962'],
  [719.9, 200, '719.9'],
  [12_345.63, 0.6, '12,345.63'],
  [2_024.24, -0.6, '2,024.24'],
  [720, 0, '720'],
])('%p, where a difference of %p must be seen, is shown as %p', (value, gap, text) => expect(figure(value, gap)).toBe(text))

test('the ends of an interval are never shown as one number', () => {
  for (let exponent = -9; exponent < 6; exponent++)
    for (const value of [0.3, 7.77, 719.96, 12_345.6])
      expect(figure(value, 10 ** exponent)).not.toBe(figure(value + 10 ** exponent, 10 ** exponent))
})

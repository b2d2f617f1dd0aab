import { perLine } from '../../support/sql/twins.js'

/** Several statements, comments, quotes, and characters that look like others. */
export const characters = [
  ...perLine(
    String.raw`
SELECT 1; SELECT 2
SELECT 1; DROP TABLE ledger.events
SELECT 1;;SELECT 2
SELECT 1 /* ; */; SELECT 2
SELECT 'a\'; DROP TABLE ledger.events; --'; SELECT 2
SELECT 'a\\'; DROP TABLE ledger.events; --
SELECT "a\"; SELECT * FROM ledger.events; --"; SELECT 2
SELECT $$a$$; SELECT $x$ ; $x$
SELECT $a$ $b$ $a$; DROP TABLE ledger.events --$b$
SELECT E'\''; DROP TABLE ledger.events; --'
SELECT E'\\'; DROP TABLE ledger.events
SELECT 1 /*! UNION SELECT * FROM ledger.events */ FROM ledger.events
SELECT 1 /*!50000 , (SELECT 1 FROM ledger.events) */ FROM ledger.events
SELECT 1 /* /* */ FROM ledger.events */ FROM ledger.events
SELECT 1 FROM/**/ledger/**/./**/events
SELECT 1 FROM--x${'\n'}ledger.events
SELECT * FROM (SELECT 1; SELECT 2)
SELECT (SELECT 1; DROP TABLE ledger.events)
(SELECT 1); (SELECT 2)
BEGIN; DROP TABLE ledger.events; COMMIT
SELECT 1 UNION SELECT data FROM ledger.events --
SELECT * FROM files.rentals WHERE location = '' UNION SELECT 1, 2, 3, 4 FROM ledger.events --'
;
;;;
-- only a comment
/* only a comment */
/* never ends
SELECT 'never ends
SELECT "never ends
SELECT ${'`'}never ends
SELECT /* never ends
SELECT $$never ends
SELECT $tag$never ends$Tag$
SELECT 'ends with a backslash\'
SELECT ?
SELECT :p
SELECT $1
SELECT $p
SELECT * FROM :p
SELECT * FROM ?
SELECT * FROM $1
SELECT :constructor
SELECT :__proto__
SELECT :toString
SELECT U&'\0041'
SELECT * FROM "ledger""."events"
SELECT * FROM ${'`'}ledger${'``'}.events${'`'}
SELECT \x01
SELECT 1 FROM dual WHERE 1 = 1 ) OR ( 1 = 1
SELECT ((1)
SELECT [1
SELECT {'a': 1
`.replaceAll('\\x01', '\u0001'),
  ),
  '',
  '   \n\t  ',
  'SELECT 1;\n-- x\nSELECT 2;',
  `SELECT '\u0000'`,
  'SELECT 1\u0000; SELECT 2',
  'SELECT * FROM files.rentals\u0000.x',
  'SELECT \ud800',
  `SELECT '\udc00'`,
  `SELECT '\ud83d'`,
  'SELECT * FROM led\u200bger.events',
  'SELECT * FROM ledger\u200b.events',
  'SELECT * FROM ledger\u2060.events',
  'SELECT * FROM ledger.\ufeffevents',
  '\ufeffSELECT * FROM ledger.events',
  'SELECT * FROM \u2028ledger.events',
  'SELECT\u00a0*\u00a0FROM\u3000ledger.events',
  'SELECT * FROM ledger\u2024events',
  'SELECT * FROM ledger\uff0eevents',
  'SELECT 1\uff1b SELECT 2 FROM ledger.events',
  'SELECT 1 \u037e SELECT 2 FROM ledger.events',
  '\uff33\uff25\uff2c\uff25\uff23\uff34 1',
  'SELECT * FROM \uff4cedger.events',
  'SELECT * FROM l\u0435dger.events',
  'SELECT * FROM \u017fkills.x',
  'SELECT * FROM ledger.\u212avents',
  "SELECT * FROM read\u200b_text('/etc/passwd')",
  "SELECT * FROM read\uff3ftext('/etc/passwd')",
  "SELECT * FROM read_te\u0445t('/etc/passwd')",
  'SELECT \u2018x\u2019',
  'SELECT \u201cx\u201d FROM files.rentals',
  'SELECT * FROM \u202estneve.regdel',
  'SELECT * FROM files.re\u0301ntals',
  'SELECT \u0661 FROM ledger.events',
  'SELECT * FROM files.rentals -\u2010 x',
  "SELECT '\u2019; DROP TABLE ledger.events; --",
]

const deep = (open: string, inner: string, close: string, times: number): string => open.repeat(times) + inner + close.repeat(times)

/** Trees that could exhaust a stack, and statements that are larger than anybody writes. */
export const nesting = [
  `SELECT ${deep('(', '1', ')', 50_000)}`,
  `SELECT ${deep('abs(', '1', ')', 2_000)}`,
  `SELECT ${deep('-', '1', '', 3_000)} FROM ledger.events`,
  `SELECT ${deep('[', '1', ']', 3_000)}`,
  `SELECT ${deep("{'a': ", '1', '}', 3_000)}`,
  `SELECT ${deep('CASE WHEN true THEN ', '1', ' END', 3_000)}`,
  `SELECT ${deep('CAST(', '1', ' AS INT)', 3_000)}`,
  `SELECT ${deep('coalesce(1, ', '1', ')', 3_000)}`,
  `SELECT ${deep('(SELECT ', '1', ')', 3_000)}`,
  `SELECT ${deep('EXISTS (SELECT ', '1', ')', 3_000)}`,
  `SELECT ${deep('list_transform([1], lambda x: ', '[1]', ')', 1_500)}`,
  `SELECT * FROM ${deep('(SELECT * FROM ', 'files.rentals', ')', 1_500)}`,
  `SELECT * FROM ${deep('(', 'files.rentals', ')', 3_000)}`,
  `SELECT 1 WHERE ${deep('NOT (', 'true', ')', 3_000)}`,
  `SELECT ${'NOT '.repeat(20_000)}true`,
  `SELECT 1${' + 1'.repeat(20_000)}`,
  `SELECT 1 WHERE ${deep('1 = 1 AND (', 'true', ')', 3_000)}`,
  `SELECT '1'${'::INT'.repeat(5_000)}`,
  `SELECT x${'.x'.repeat(5_000)}`,
  `SELECT [1]${'[1]'.repeat(5_000)}`,
  `SELECT 1${'::INT[]'.repeat(3_000)}`,
  `SELECT CAST(NULL AS ${deep('STRUCT(a ', 'INT', ')', 3_000)})`,
  `SELECT * FROM files.rentals${' CROSS JOIN files.rentals'.repeat(2_000)}`,
  deep('WITH a AS (', 'SELECT 1', ') SELECT 1', 2_000),
  `SELECT 1 /* ${deep('/*', '', '*/', 100_000)} */ FROM ledger.events`,
  `SELECT '${'x'.repeat(1_000_001)}'`,
  `SELECT ${'x'.repeat(900_000)}`,
  `SELECT ${'1, '.repeat(5_000)} nothing_here`,
  `SELECT * FROM files.rentals WHERE nothing_here IN (${'1, '.repeat(20_000)}1)`,
  `PIVOT files.rentals ON ${deep('(', 'location', ')', 20_000)} USING count(*)`,
]

import { expect, test } from '@jest/globals'
import { pages, readPage } from '../../docs/generators/pages.js'
import { catalogue } from '../../events/catalogue/catalogue.js'
import { problemCatalogue } from '../../src/basics/errors.js'
import { settingDescriptions } from '../../src/setup/config.js'
import { limits } from '../../src/basics/limits.js'

test.each(Object.entries(pages()))('docs/%s says what the code says; otherwise run "npm run docs"', (file, text) => {
  expect(readPage(file)).toBe(text)
})

test('every event, limit, error and setting has its line', () => {
  for (const type of catalogue.keys()) expect(readPage('audit/events.md')).toContain(`### ${type}\n`)
  for (const name of Object.keys(limits)) expect(readPage('operate/limits.md')).toContain(`| \`${name}\` |`)
  for (const code of Object.keys(problemCatalogue)) expect(readPage('use/errors.md')).toContain(`| \`${code}\` |`)
  for (const { name, about } of settingDescriptions) {
    expect(about).not.toBe('')
    expect(readPage('operate/settings.md')).toContain(`| \`${name}\` |`)
  }
})

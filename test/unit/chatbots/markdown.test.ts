import { describe, expect, test } from '@jest/globals'
import { fromMarkdown, plainForms, slackForms } from '../../../src/chatbots/channels/markdown.js'
import { messagesOf } from '../../../src/chatbots/channels/post.js'

const table = '| island | n |\n|:---|---:|\n| **Biscoe** | 44 |\n| a \\| b | 5 |'

describe('an answer in Markdown', () => {
  test.each([
    ['**Biscoe** has `max(n)` of most', '*Biscoe* has `max(n)` of most', 'Biscoe has max(n) of most'],
    ['**`t`** has `a**b**`.', '*`t`* has `a**b**`.', 't has a**b**.'],
    ['## Most of **all**', '*Most of all*', 'Most of all'],
    ['See [the page](https://x.test/a?b=1).', 'See the page (https://x.test/a?b=1).', 'See the page (https://x.test/a?b=1).'],
    ['[https://x.test](https://x.test)', 'https://x.test', 'https://x.test'],
    ['[mail](javascript:alert)', '[mail](javascript:alert)', '[mail](javascript:alert)'],
    ['```SELECT 1```\nThere are 42.', '```SELECT 1```\nThere are 42.', '``SELECT 1``\nThere are 42.'],
    ['* one\n  * two', '• one\n  • two', '• one\n  • two'],
    ['```sql\nSELECT **a** FROM t\n```\nDone.', '```\nSELECT **a** FROM t\n```\nDone.', 'SELECT **a** FROM t\nDone.'],
    [table, '```\nisland  n\nBiscoe  44\na | b   5\n```', 'island | n\nBiscoe | 44\na | b | 5'],
  ])('has the forms of Slack, and none elsewhere: %j', (text, slack, plain) => {
    expect([fromMarkdown(text, slackForms), fromMarkdown(text, plainForms)]).toEqual([slack, plain])
  })

  test.each(['2 * 3 ** 4 = 162', '2**3 and 4**5', 'snake_case and __init__', 'a | b', '- 5 degrees', '#1 of 3', '** open', '[a] (b)', ''])(
    'is not taken for marks that it does not have: %j',
    (text) => {
      expect([fromMarkdown(text, slackForms), fromMarkdown(text, plainForms)]).toEqual([text, text])
    },
  )

  test('of marks alone stays, because chat services refuse an empty text', () => {
    expect(fromMarkdown('```\n```', plainForms)).toBe('```\n```')
  })

  test.each(['[', '`', '**', '** a', '[a](http://', '```\n', '|\n', '|-', '# ', '| a | b |\n|---|---|\n'])(
    'of the greatest length is read whole, also of nothing but %j',
    (piece) => {
      const text = piece.repeat(Math.floor((256 * 1024) / piece.length))
      expect(typeof fromMarkdown(text, slackForms)).toBe('string')
    },
  )
})

describe('a long text', () => {
  const most = { chars: 100, messages: 4 }

  test('becomes several messages that end with a line or a word, with the note in the last one', () => {
    const lines = Array.from({ length: 10 }, (_, i) => `row ${i} of the table`)
    const messages = messagesOf({ text: lines.join('\n'), note: 'No rows.' }, most)
    expect(messages.join('\n')).toBe(`${lines.join('\n')}\n\nNo rows.`)
    expect(messages.map(({ length }) => length <= 100)).toEqual([true, true, true])
    const words = Array.from({ length: 40 }, (_, i) => `word${i}`).join(' ')
    expect(messagesOf({ text: words }, most).join(' ')).toBe(words)
  })

  test('is cut within a word only if it has no other place, and never within a character', () => {
    expect(messagesOf({ text: 'x'.repeat(150) }, most)).toEqual(['x'.repeat(100), 'x'.repeat(50)])
    const smiles = messagesOf({ text: `x${'😀'.repeat(80)}` }, most)
    expect(smiles.every((text) => text.isWellFormed())).toBe(true)
    expect(smiles.join('')).toBe(`x${'😀'.repeat(80)}`)
  })

  test('of more than the most messages is cut, and says so', () => {
    const messages = messagesOf({ text: 'x'.repeat(1_000), note: 'No rows.' }, most)
    expect([messages.length, messages.at(-1)]).toEqual([4, `${'x'.repeat(89)}…\n\nNo rows.`])
  })
})

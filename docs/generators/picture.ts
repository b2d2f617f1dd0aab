/** docs/travel.svg: how a command, a query and a prediction travel. Sizes are in units of a drawing that is 1200 wide. */

type Box = { x: number; y: number; width: number; height: number }
type Way = 'command' | 'prediction' | 'query' | 'follow'

const style = `
  .paper { fill: #ffffff; stroke: #d5dae1 }
  .process { fill: #f3f5f8; stroke: #b9c1cc; stroke-dasharray: 7 5 }
  .box { fill: #ffffff; stroke-width: 2.5 }
  text { font-family: system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif; fill: #1c2430 }
  .name { font-size: 24px; font-weight: 600 }
  .about { font-size: 20px; fill: #46515f }
  .arrow { fill: none; stroke-width: 3.5 }
  .command { stroke: #1f66c1 } .head.command { fill: #1f66c1 }
  .prediction { stroke: #b65a06 } .head.prediction { fill: #b65a06 }
  .query { stroke: #1c7c46 } .head.query { fill: #1c7c46 }
  .follow { stroke: #68737f } .head.follow { fill: #68737f }
  .arrow.follow { stroke-dasharray: 9 6 }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #14181f; stroke: #343c48 }
    .process { fill: #1b212a; stroke: #4a5564 }
    .box { fill: #222a35 }
    text { fill: #e8ecf1 }
    .about { fill: #b3bdc9 }
    .command { stroke: #6aaaf8 } .head.command { fill: #6aaaf8 }
    .prediction { stroke: #f2a154 } .head.prediction { fill: #f2a154 }
    .query { stroke: #62c98c } .head.query { fill: #62c98c }
    .follow { stroke: #98a3b0 } .head.follow { fill: #98a3b0 }
  }`

const text = (kind: 'name' | 'about', x: number, y: number, words: string, anchor = 'middle'): string =>
  `<text class="${kind}" x="${x}" y="${y}" text-anchor="${anchor}">${words}</text>`

/** A box with a name and lines below it, in the colour of its way. */
const box = (way: Way, { x, y, width, height }: Box, name: string, ...about: string[]): string => {
  const first = y + height / 2 + 8 - about.length * 13
  return [
    `<rect class="box ${way}" x="${x}" y="${y}" width="${width}" height="${height}" rx="10"/>`,
    text('name', x + width / 2, first, name),
    ...about.map((line, index) => text('about', x + width / 2, first + 27 * (index + 1), line)),
  ].join('\n')
}

/** An arrow along a straight line, to the right or down. */
const arrow = (way: Way, [x1, y1]: [number, number], [x2, y2]: [number, number]): string => {
  const down = x1 === x2
  const head = down ? `${x2},${y2} ${x2 - 8},${y2 - 13} ${x2 + 8},${y2 - 13}` : `${x2},${y2} ${x2 - 13},${y2 - 8} ${x2 - 13},${y2 + 8}`
  return (
    `<line class="arrow ${way}" x1="${x1}" y1="${y1}" x2="${down ? x2 : x2 - 10}" y2="${down ? y2 - 10 : y2}"/>` +
    `<polygon class="head ${way}" points="${head}" stroke="none"/>`
  )
}

type Stop = [name: string, about: string]
type Travel = { way: Way; client: [name: string, how: string, answer: string]; stops: Stop[] }

const travels: Travel[] = [
  {
    way: 'command',
    client: ['A command', 'POST or CREATE', 'answer: on commit'],
    stops: [
      ['Request', 'checks input'],
      ['Command', 'seals secrets'],
      ['Queue', 'lets it decide'],
    ],
  },
  {
    way: 'prediction',
    client: ['A prediction', 'POST …/predict', 'answer: on commit'],
    stops: [
      ['Route', 'checks rows'],
      ['Model', 'in memory'],
      ['Recorder', 'encrypts rows'],
    ],
  },
  {
    way: 'query',
    client: ['A query', 'SELECT', 'answer: streamed'],
    stops: [
      ['SQL', 'reads tokens'],
      ['Admission', 'gives turns'],
      ['Connection', 'to the process'],
    ],
  },
]

const height = 108
const tops = [50, 180, 336]
const stopsAt = [276, 461, 646]
const stopWidth = 154
const log: Box = { x: 862, y: 50, width: 306, height: 238 }
const guard: Box = { x: 862, y: 336, width: 138, height }
const duckdb: Box = { x: 1030, y: 336, width: 138, height }

const travel = ({ way, client: [name, how, answer], stops }: Travel, row: number): string => {
  const y = tops[row] ?? 0
  const middle = y + height / 2
  const lefts = [...stopsAt, log.x]
  return [
    box(way, { x: 24, y, width: 206, height }, name, how, answer),
    ...stops.map((stop, index) => box(way, { x: lefts[index] ?? 0, y, width: stopWidth, height }, ...stop)),
    ...lefts.map((x, index) => arrow(way, [index === 0 ? 230 : (lefts[index - 1] ?? 0) + stopWidth, middle], [x, middle])),
  ].join('\n')
}

/** The drawing as the text of an SVG file, which needs no font or file beside it. */
export const picture =
  (): string => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 500" role="img" aria-labelledby="title about">
<title id="title">How a command, a prediction and a query travel</title>
<desc id="about">A command and a prediction pass the server process, and are answered when the log has stored them. A query passes to the SQL process, whose DuckDB tables follow the log.</desc>
<style>${style}
</style>
<rect class="paper" x="1" y="1" width="1198" height="498" rx="14"/>
<rect class="process" x="254" y="22" width="568" height="456" rx="14"/>
<rect class="process" x="846" y="318" width="338" height="160" rx="14"/>
${text('about', 538, 468, 'server process')}
${text('about', 1015, 468, 'SQL process')}
${travels.map(travel).join('\n')}
${box('follow', log, 'log.sqlite', 'events that never change,', 'a hash chain and a tree;', 'one commit for all', 'that wait')}
${box('query', guard, 'Guard', 'checks and', 'rewrites')}
${box('query', duckdb, 'DuckDB', 'runs on', 'its tables')}
${arrow('query', [guard.x + guard.width, guard.y + height / 2], [duckdb.x, guard.y + height / 2])}
${arrow('follow', [1099, log.y + log.height], [1099, duckdb.y])}
${text('about', 1084, 311, 'projections', 'end')}
</svg>
`

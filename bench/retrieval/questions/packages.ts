import type { Note } from './lists.js'

/** What thirty packages say of themselves, each with a question in other words that this package alone answers. */
export const packages: readonly Note[] = [
  [
    'adm-zip',
    'Allows user to create or extract zip files both in memory or to/from disk.',
    'Unpack a compressed archive that was uploaded',
  ],
  ['autocannon', 'Fast HTTP benchmarking tool.', 'How many requests a second does my web server stand?'],
  ['axe-core', 'Accessibility engine for automated web UI testing.', 'Check whether blind people can use our pages'],
  ['bignumber.js', 'A library for arbitrary-precision decimal and non-decimal arithmetic.', 'Sums of money must not lose any digit'],
  ['camelcase', 'Convert a dash/dot/underscore/space separated string to camelCase or PascalCase.', 'Turn first_name into firstName'],
  ['commander', 'The complete solution for command-line programs.', 'Parse the flags and arguments that people type in the shell'],
  [
    'd3-dsv',
    'A parser and formatter for delimiter-separated values, such as CSV and TSV.',
    'Read a spreadsheet that was exported as plain text',
  ],
  ['d3-geo', 'Shapes and calculators for spherical coordinates.', 'Draw a map of the world from longitudes and latitudes'],
  ['d3-random', 'Generate random numbers from various distributions.', 'Draw samples that follow a bell curve'],
  ['d3-time-format', 'A time formatter and parser inspired by strftime and strptime.', 'Write a date as day, month and year'],
  ['deepmerge', 'A library for deep (recursive) merging of objects.', 'Combine nested default settings with those of the user'],
  ['emoji-regex', 'A regular expression to match all Emoji-only symbols as per the Unicode Standard.', 'Find smileys in chat messages'],
  ['esbuild', 'An extremely fast JavaScript and CSS bundler and minifier.', 'Pack all source modules into one small file'],
  [
    'express-rate-limit',
    'Basic IP rate-limiting middleware, to limit repeated requests to public APIs.',
    'Stop one visitor from calling us a thousand times a minute',
  ],
  ['fast-check', 'Property based testing framework (like QuickCheck).', 'Try a function with generated inputs until a rule is broken'],
  ['formidable', 'A module for parsing form data, especially file uploads.', 'Receive a picture that somebody sends from a web page'],
  [
    'graceful-fs',
    'A drop-in replacement for fs, making various improvements.',
    'Too many open files: is there a better module for reading and writing them?',
  ],
  ['iconv-lite', 'Convert character encodings in pure JavaScript.', 'Umlauts of an old Windows text are garbled'],
  ['ignore', 'A manager and filter for .gitignore rules.', 'Which paths does the version control leave out?'],
  ['ipaddr.js', 'A library for manipulating IPv4 and IPv6 addresses.', 'Is 10.1.2.3 inside this network range?'],
  ['jose', 'JWA, JWS, JWE, JWT, JWK and JWKS for JavaScript runtimes.', 'Verify the signed login token of a user'],
  [
    'leven',
    'Measure the difference between two strings by the Levenshtein distance algorithm.',
    'How many letters separate a typo from the right word?',
  ],
  [
    'lru-cache',
    'A cache object that deletes the least-recently-used items.',
    'Keep recent results in memory and drop those nobody asked for lately',
  ],
  ['nanoid', 'A tiny, secure, URL-friendly unique string ID generator.', 'Make a short random key for each new record'],
  [
    'natural-compare',
    'Compare strings containing a mix of letters and numbers in the way a human being would in sort order.',
    'file10 should come after file9 in the list',
  ],
  ['p-limit', 'Run multiple promise-returning and async functions with limited concurrency.', 'Do at most five downloads at the same time'],
  ['pidusage', 'Cross-platform process cpu % and memory usage of a PID.', 'How much RAM does the running program take?'],
  ['pretty-bytes', 'Convert bytes to a human readable string: 1337 → 1.34 kB.', 'Show the size of a file in megabytes'],
  [
    'retry',
    'Abstraction for exponential and custom retry strategies for failed operations.',
    'Try again after a failure, and wait longer each time',
  ],
  [
    'strip-json-comments',
    'Strip comments from JSON. Lets you use comments in your JSON files!',
    'Explain settings inside a configuration file with // notes',
  ],
].map(([id = '', text = '', question = '']) => ({ id, text, question }))

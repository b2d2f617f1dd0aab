import type { Note } from './lists.js'

/** What thirty packages do, each with a question in other words that this package alone answers. */
export const packages: readonly Note[] = [
  ['adm-zip', 'adm-zip creates and extracts zip archives, in memory or on disk.', 'Unpack a compressed archive that was uploaded'],
  [
    'autocannon',
    'autocannon is a benchmarking tool for HTTP: it sends a server as many requests as it can and reports requests per second and latency.',
    'How many requests a second does my web server stand?',
  ],
  [
    'axe-core',
    'axe-core tests web pages for accessibility: it finds what people with disabilities, for example with a screen reader, cannot use.',
    'Check whether blind people can use our pages',
  ],
  [
    'bignumber.js',
    'bignumber.js calculates with decimal numbers of arbitrary precision, without the rounding errors of floating point.',
    'Sums of money must not lose any digit',
  ],
  [
    'camelcase',
    'camelcase converts a name with dashes, dots, underscores or spaces to camel case, such as foo_bar to fooBar.',
    'Turn first_name into firstName',
  ],
  [
    'commander',
    'commander is for command-line programs: it parses options and arguments of the command and prints the usage.',
    'Parse the flags and arguments that people type in the shell',
  ],
  [
    'd3-dsv',
    'd3-dsv parses and formats delimiter-separated values, such as the comma-separated and tab-separated files that spreadsheets export.',
    'Read a spreadsheet that was exported as plain text',
  ],
  [
    'd3-geo',
    'd3-geo projects spherical coordinates, longitude and latitude, onto a flat map, and draws the shapes of countries.',
    'Draw a map of the world from longitudes and latitudes',
  ],
  [
    'd3-random',
    'd3-random generates random numbers from distributions: uniform, normal, log-normal, exponential and others.',
    'Draw samples that follow a bell curve',
  ],
  [
    'd3-time-format',
    'd3-time-format formats and parses dates and times by patterns of day, month, year and hour, as strftime does.',
    'Write a date as day, month and year',
  ],
  [
    'deepmerge',
    'deepmerge merges two objects deeply: nested members of both are combined, and the second object overrides the first.',
    'Combine nested default settings with those of the user',
  ],
  [
    'emoji-regex',
    'emoji-regex is a regular expression that matches every emoji symbol in a text, as the Unicode Standard defines them.',
    'Find smileys in chat messages',
  ],
  [
    'esbuild',
    'esbuild bundles and minifies JavaScript and CSS: it puts the modules of a program into one file, very fast.',
    'Pack all source modules into one small file',
  ],
  [
    'express-rate-limit',
    'express-rate-limit limits how many requests an address may send to an API in a period of time, and refuses more of them.',
    'Stop one visitor from calling us a thousand times a minute',
  ],
  [
    'fast-check',
    'fast-check tests properties: it runs a test with many random inputs, and shrinks an input that fails to a minimal example.',
    'Try a function with generated inputs until a rule is broken',
  ],
  [
    'formidable',
    'formidable parses the data of forms on a server, especially uploaded files such as images and videos.',
    'Receive a picture that somebody sends from a web page',
  ],
  [
    'graceful-fs',
    'graceful-fs replaces the file system module: it waits and tries again when too many files are open at once.',
    'Too many open files: is there a better module for reading and writing them?',
  ],
  [
    'iconv-lite',
    'iconv-lite converts text between character encodings, such as Windows-1252, Latin-1, Shift_JIS and UTF-8.',
    'Umlauts of an old Windows text are garbled',
  ],
  [
    'ignore',
    'ignore reads the rules of .gitignore files and tells which paths git ignores.',
    'Which paths does the version control leave out?',
  ],
  [
    'ipaddr.js',
    'ipaddr.js parses IPv4 and IPv6 addresses and tells whether an address is in a range of a network, such as 10.0.0.0/8.',
    'Is 10.1.2.3 inside this network range?',
  ],
  [
    'jose',
    'jose signs, verifies and encrypts JSON Web Tokens, with which users and services authenticate.',
    'Verify the signed login token of a user',
  ],
  [
    'leven',
    'leven measures the difference between two strings: the number of single-character edits that turn one word into the other.',
    'How many letters separate a typo from the right word?',
  ],
  [
    'lru-cache',
    'lru-cache keeps values in memory up to a size, and deletes the least recently used ones when it is full.',
    'Keep recent results in memory and drop those nobody asked for lately',
  ],
  [
    'nanoid',
    'nanoid generates tiny, secure and unique random identifiers that can stand in a URL.',
    'Make a short random key for each new record',
  ],
  [
    'natural-compare',
    'natural-compare sorts strings with letters and numbers in the way that people do: img2 comes before img12.',
    'file10 should come after file9 in the list',
  ],
  [
    'p-limit',
    'p-limit runs asynchronous functions with limited concurrency: only so many of them at the same time.',
    'Do at most five downloads at the same time',
  ],
  [
    'pidusage',
    'pidusage tells the use of processor and memory of a running process, by its process id.',
    'How much RAM does the running program take?',
  ],
  [
    'pretty-bytes',
    'pretty-bytes converts a number of bytes to a size that people read: 1337 becomes 1.34 kB.',
    'Show the size of a file in megabytes',
  ],
  [
    'retry',
    'retry repeats an operation that failed, with exponentially growing delays between the attempts.',
    'Try again after a failure, and wait longer each time',
  ],
  [
    'strip-json-comments',
    'strip-json-comments removes comments from JSON, so that a configuration file in JSON may have comments.',
    'Explain settings inside a configuration file with // notes',
  ],
].map(([id = '', text = '', question = '']) => ({ id, text, question }))

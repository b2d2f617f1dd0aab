// Unpacks the browser of the package into the directory that TMPDIR names, and prints the path of its program.
import chromium from '@sparticuz/chromium'

process.stdout.write(await chromium.executablePath())

// Unpacks the packaged browser into the directory of TMPDIR, and prints the path of its program.
import chromium from '@sparticuz/chromium'

process.stdout.write(await chromium.executablePath())

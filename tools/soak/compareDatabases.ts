import { compareRows } from '../../test/support/compare/compareChains.js'

/* A process of its own: comparing takes seconds, in which subscribers would not answer pings. Arguments: two data
 * directories. Exit code 1 and the difference on standard error when their chains are not the same, row for row. */

const [datadir, expected] = process.argv.slice(2)
try {
  compareRows(datadir, expected, 'databases')
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}

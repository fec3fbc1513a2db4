import type { TestContext } from 'node:test'
import type { Database } from '../../src/store/database.js'
import { openForReading } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { temporaryDirectory } from './temporary.js'

/** Two connections to a database of the test's own, closed when the test ends. */
export function temporaryConnections(t: Pick<TestContext, 'after'>): { writing: Database; reading: Database } {
  const datadir = temporaryDirectory(t)
  const writing = openForWriting(datadir)
  const reading = openForReading(datadir)
  t.after(() => {
    reading.close()
    writing.close()
  })
  return { writing, reading }
}

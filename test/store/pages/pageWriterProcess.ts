import { openForWriting } from '../../../src/store/openForWriting.js'
import { seededRandom } from '../../support/random.js'
import { appendBlocks, awkwardLogs, openCheckpoints, removeBlocks } from './pageChains.js'

/* `node pageWriterProcess.js DATADIR SEED MS`: commits blocks, reorganizes and checkpoints for that long, and prints
   the number of commits. */

const [datadir, seed, ms] = process.argv.slice(2)
const random = seededRandom(Number(seed))
const db = openForWriting(datadir)
db.pragma('wal_autocheckpoint = 0')
const checkpoints = openCheckpoints(datadir)
let commits = 0
for (const endsMs = performance.now() + Number(ms); performance.now() < endsMs; commits++) {
  removeBlocks(db, random.below(20))
  appendBlocks(db, awkwardLogs(random, random.below(20)))
  if (random.below(4) > 0) {
    const mode = ['PASSIVE', 'PASSIVE', 'FULL', 'RESTART', 'TRUNCATE'][random.below(5)]
    checkpoints.pragma(`wal_checkpoint(${mode})`)
  }
  // Readers find the pages in the file, for a moment.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, random.below(4))
}
checkpoints.close()
db.close()
process.stdout.write(`${commits}`)

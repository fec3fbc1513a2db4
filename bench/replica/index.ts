import { isMainThread, Worker } from 'node:worker_threads'
import { YOUNG_GENERATION_MB } from '../../src/workers/spawn.js'
import { runBench } from '../lib/bench.js'
import { OPTIONS } from './options.js'
import { catchUp, measureBaseline, measureReorgs, measureTip } from './phases.js'
import { measureReads, printReads } from './reads.js'
import { measureSnapshots } from './snapshot.js'
import { measureStream } from './stream.js'

/* `npm run bench:replica`: blocks of 99 transactions, 251 logs, 400 changed accounts and 1,000 changed slots, on a
 * state of 250,000 accounts and 500,000 slots, on their way to a replica; reads from replicas; snapshots for new
 * ones. */

// As in the product, the thread that writes is not the main one.
if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url), {
    argv: process.argv.slice(2),
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  })
  worker.on('exit', (code) => {
    process.exitCode = code
  })
} else
  await runBench({
    name: 'replica',
    options: OPTIONS,
    phases: {
      catchUp: {
        about: 'blocks that wait, applied until the state root of the last one was compared',
        run: async (run) => (await run.once(catchUp)).figures,
      },
      tip: { about: 'blocks one by one, until a reader has read them', run: measureTip },
      reorg: { about: 'reorgs of --reorg blocks', run: measureReorgs },
      baseline: { about: 'catching up without other threads, a root for each block', run: measureBaseline },
      stream: {
        about: 'reading, encoding, publishing to three NATS servers, and consuming',
        isUsual: false,
        run: measureStream,
      },
      reads: {
        about: 'reads through HAProxy from 1, 2 and 3 replicas while blocks arrive',
        isUsual: false,
        run: measureReads,
        print: printReads,
      },
      snapshot: {
        about: 'snapshots made and restored, in a directory and in radosgw',
        isUsual: false,
        run: measureSnapshots,
      },
    },
  })

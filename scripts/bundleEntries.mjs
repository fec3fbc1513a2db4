// What is bundled from src/: the program, and the entries of its threads and processes; and how.
import { join } from 'node:path'
import { build } from 'esbuild'
import { ROOT } from './ensure.mjs'

export const PROGRAM = ['cli/main.ts', 'cli/startCairn.ts']

/** The entry that a server starts most often, for each of its reader threads. */
export const READER = 'workers/pool/readerThread.ts'

/** The thread that writes, of each server that follows. */
export const INGEST = 'sync/thread/ingestWorkerThread.ts'

/** A thread that loads the method table of tests. */
export const ACCEPTOR = 'server/acceptors/acceptorThread.ts'

/** Entries of the other threads and processes. */
export const THREADS = [
  ACCEPTOR,
  'sync/thread/l2VerifierThread.ts',
  'sources/senders/senderRecoveryThread.ts',
  'replication/threads/blockVerifierThread.ts',
  'workers/checkpointerThread.ts',
  'replication/threads/replicaThread.ts',
  'replication/threads/trieHasherThread.ts',
  'replication/threads/replicationThread.ts',
  'replication/failover/leaderSessionThread.ts',
  'sinks/sinkThread.ts',
  'sql/queryProcess.ts',
  'sql/lake/keeperProcess.ts',
  'cli/doctor/quickCheckProcess.ts',
]

// CommonJS packages in an ES module call `require` for Node's own modules.
const REQUIRE = `import { createRequire as createBundleRequire } from 'node:module'
const require = createBundleRequire(import.meta.url)`

/** Bundles entries into one folder: each is `NAME.js`, and what several of them import, or one imports dynamically, is a
 *  chunk beside it. Returns esbuild's metafile. */
export async function bundle(entries, outdir) {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: entries.map((name) => join('src', name)),
    outdir,
    entryNames: '[name]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true, // what is imported dynamically is loaded when it is needed
    format: 'esm',
    platform: 'node',
    target: 'node22',
    // They find native or WebAssembly parts beside their own files.
    external: ['better-sqlite3', '@bokuweb/zstd-wasm', '@duckdb/node-api'],
    banner: { js: REQUIRE },
    sourcemap: 'external', // for the stacks that are logged (src/lib/sourceMaps.ts); the package leaves them out
    sourcesContent: false,
    metafile: true,
    logLevel: 'warning',
  })
  return metafile
}

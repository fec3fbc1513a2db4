// Bundles src/ into dist/cli with esbuild: the program, and an entry for each kind of thread. Threads load a few files in
// place of hundreds of modules, which is most of the time that a server needs to start. All files lie in one folder, so
// that `new URL('./readerThread.js', import.meta.url)` names a thread's entry from whichever file it is bundled into.
import { spawnSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { writeContained } from './contained.mjs'
import { ensureWebBuilt, ROOT, tool } from './ensure.mjs'

const ENTRIES = [
  'cli/main.ts',
  'cli/startCairn.ts',
  'workers/pool/readerThread.ts',
  'sync/thread/l2VerifierThread.ts',
  'sources/senders/senderRecoveryThread.ts',
  'replication/threads/blockVerifierThread.ts',
  'workers/checkpointerThread.ts',
  'sync/thread/ingestWorkerThread.ts',
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

ensureWebBuilt()
const { metafile } = await build({
  absWorkingDir: ROOT,
  entryPoints: ENTRIES.map((name) => join('src', name)),
  outdir: 'dist/cli',
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
writeContained(
  join(ROOT, 'dist', 'cli'),
  Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  ),
)

// The library entries, which also `require` and jest's CommonJS tests load. The typed views use the application's drizzle-orm.
const LIBRARY = { absWorkingDir: ROOT, platform: 'node', target: 'node22', logLevel: 'warning' }
for (const [source, name] of [
  ['src/cli/startCairn.ts', 'startCairn'],
  ['src/store/views.ts', 'schema'],
]) {
  const entry = { ...LIBRARY, entryPoints: [source] }
  if (name === 'schema') await build({ ...entry, outfile: 'dist/cli/schema.js', format: 'esm' })
  await build({
    ...entry,
    outfile: `dist/cli/${name}.cjs`,
    format: 'cjs',
    define: { 'import.meta.url': 'moduleUrl' },
    banner: { js: "const moduleUrl = require('node:url').pathToFileURL(__filename).href" },
  })
}

const types = spawnSync(tool('tsc'), ['-p', 'tsconfig.types.json'], { cwd: ROOT, stdio: 'inherit' })
if (types.status !== 0) process.exit(1)
for (const name of ['cli/startCairn', 'store/views']) {
  copyFileSync(join(ROOT, 'dist', 'types', `${name}.d.ts`), join(ROOT, 'dist', 'types', `${name}.d.cts`))
}

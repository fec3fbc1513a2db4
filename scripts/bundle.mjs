// Bundles src/ into dist/cli with esbuild: the program, and an entry for each kind of thread. Threads load a few files in
// place of hundreds of modules, which is most of the time that a server needs to start. All files lie in one folder, so
// that `new URL('./readerThread.js', import.meta.url)` names a thread's entry from whichever file it is bundled into.
import { join } from 'node:path'
import { build } from 'esbuild'
import { ROOT } from './ensure.mjs'

const ENTRIES = [
  'cli/main.ts',
  'workers/readerThread.ts',
  'workers/l2VerifierThread.ts',
  'workers/checkpointerThread.ts',
  'workers/ingestWorkerThread.ts',
]

// CommonJS packages in an ES module call `require` for Node's own modules.
const REQUIRE = `import { createRequire as createBundleRequire } from 'node:module'
const require = createBundleRequire(import.meta.url)`

await build({
  absWorkingDir: ROOT,
  entryPoints: ENTRIES.map((name) => join('src', name)),
  outdir: 'dist/cli',
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true, // what is imported dynamically is loaded when it is needed
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: ['better-sqlite3'], // finds its native part beside its own files
  banner: { js: REQUIRE },
  sourcemap: true, // for the stacks that are logged (src/lib/sourceMaps.ts)
  sourcesContent: false,
  logLevel: 'warning',
})

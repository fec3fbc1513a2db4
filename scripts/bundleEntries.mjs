// What is bundled from src/: the program, and the entries of its threads and processes; and how.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import { ROOT } from './ensure.mjs'

export const PROGRAM = ['cli/main.ts', 'cli/startCairn.ts']

/** What `main` loads for `cairn serve`. */
export const SERVER = 'cli/serveProgram.ts'

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

// Node's own modules are read without the loader of ES modules, see `withoutNodeImports`. Before Node 20.16, which gets no
// further than the line that says so, there is `require` alone.
const NODE_MODULE = `import { createRequire as $createRequire } from 'node:module'
const $nodeModule = process.getBuiltinModule ?? $createRequire(import.meta.url)`

// CommonJS packages call `require` for them. It is made where it is used: in the chunk with esbuild's `__require`.
const WITH_REQUIRE = `${NODE_MODULE}; const require = $createRequire(import.meta.url)`

// As esbuild writes it.
const NODE_IMPORT = /^import ([^;"']+) from "(node:[^"]+)";$/gm

/** Replaces imports of Node's own modules: the loader of ES modules reads every property of a module, and a property of
 *  `node:http` loads fetch and WebSockets, 45 ms of processor time. Returns the text with as many lines. */
function withoutNodeImports(text) {
  const replaced = text.replace(NODE_IMPORT, (_, names, path) => {
    const [, whole, named] = /^(?:\* as )?([\w$]+)?(?:, )?(\{[^}]*\})?$/.exec(names)
    const parts = [whole, named?.replaceAll(' as ', ': ')].filter((part) => part !== undefined)
    return parts.map((part) => `const ${part} = $nodeModule("${path}");`).join(' ')
  })
  return text.includes('typeof require') ? replaced.replace(NODE_MODULE, WITH_REQUIRE) : replaced
}

// A WebAssembly module is assembled by a function that is exported under such a name, without parameters.
const ASSEMBLER = /^export function (assemble\w+)\(\)(?=: Uint8Array)/m

/** Loads the library of Starknet's curve with the first call: esbuild bundles what is required so. */
const lazyCurve = {
  name: 'lazy-curve',
  setup({ onLoad }) {
    onLoad({ filter: /chain\/starknet\/curve\.ts$/ }, () => ({
      contents: `let starknet\nexport const curve = () => (starknet ??= require('@scure/starknet'))`,
    }))
  },
}

/** Reads the rules of public chains from the file of the package that has them: the others load elliptic curves. */
const publicChains = {
  name: 'public-chains',
  setup({ onResolve }) {
    onResolve({ filter: /^@ethereumjs\/common$/ }, ({ importer }) =>
      /chain[\\/]eth[\\/]genesis\.ts$/.test(importer)
        ? { path: join(ROOT, 'node_modules/@ethereumjs/common/dist/esm/chains.js') }
        : undefined,
    )
  },
}

const assembledBytes = new Map()

/** Replaces the functions that assemble WebAssembly modules by what they return: to run them for the first time takes each
 *  thread 30 ms of processor time. */
const assembled = {
  name: 'assembled',
  setup({ onLoad }) {
    onLoad({ filter: /[mM]odule\.ts$/ }, async ({ path }) => {
      const source = readFileSync(path, 'utf8')
      const [found, name] = ASSEMBLER.exec(source) ?? []
      if (name === undefined) return undefined
      if (!assembledBytes.has(path))
        assembledBytes.set(path, Buffer.from((await load(path))[name]()).toString('base64'))
      const literal = `new Uint8Array(Buffer.from('${assembledBytes.get(path)}', 'base64'))`
      // What assembles is left out as unused.
      const contents = source.replace(found, `export function ${name}() { return ${literal} } function unused()`)
      return { contents, loader: 'ts' }
    })
  },
}

/** Returns the exports of a source file. */
async function load(path) {
  const options = { bundle: true, write: false, format: 'esm', platform: 'node', target: 'node22' }
  const { outputFiles } = await build({ absWorkingDir: ROOT, entryPoints: [path], ...options })
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`)
}

/** Bundles entries into one folder: each is `NAME.js`, and what several of them import, or one imports dynamically, is a
 *  chunk beside it. Returns esbuild's metafile. */
export async function bundle(entries, outdir) {
  const { metafile, outputFiles } = await build({
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
    // Packages that find native or WebAssembly parts beside their own files; and a bundle of its own.
    external: ['better-sqlite3', '@bokuweb/zstd-wasm', '@duckdb/node-api', './serveProgram.js'],
    banner: { js: NODE_MODULE },
    sourcemap: 'external', // for the stacks that are logged (src/lib/sourceMaps.ts); the package leaves them out
    sourcesContent: false,
    plugins: [assembled, lazyCurve, publicChains],
    metafile: true,
    write: false,
    logLevel: 'warning',
  })
  mkdirSync(resolve(ROOT, outdir), { recursive: true })
  for (const { path, text, contents } of outputFiles) {
    const mode = text.startsWith('#!') ? 0o755 : 0o644
    // The mode is that of new files only.
    rmSync(path, { force: true })
    writeFileSync(path, path.endsWith('.js') ? withoutNodeImports(text) : contents, { mode })
  }
  return metafile
}

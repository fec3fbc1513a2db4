// Bundles the threads and processes that tests start, as dist/ has them: a reader thread of single modules takes 0.9 s of
// processor time to start, a bundled one 0.4. Replaces their entries in build/src by files that load the bundles.
import { renameSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { ACCEPTOR, bundle, INGEST, READER, THREADS } from './bundleEntries.mjs'
import { ROOT } from './ensure.mjs'

const BUILD = join(ROOT, 'build')
const FOLDER = join(BUILD, 'threads')
const METHODS = 'test/support/testMethods'

/** The path of a compiled file. */
const compiled = (entry) => join(BUILD, 'src', entry.replace(/\.ts$/, '.js'))
const bundled = (from, name) => `${relative(dirname(from), FOLDER)}/${name}`.replaceAll('\\', '/')

// Errors are recognized by their classes: a thread of a bundle does not know those of a method table of modules.
const threads = THREADS.filter((entry) => entry !== ACCEPTOR)
await bundle(threads, FOLDER)
await bundle([INGEST], FOLDER)
for (const entry of [...threads, INGEST]) {
  const path = compiled(entry)
  writeFileSync(path, `import '${bundled(path, entry.split('/').pop().replace(/\.ts$/, '.js'))}'\n`)
}

// A method table is bundled with its thread: errors are recognized by their classes. Tables of other files get a thread of
// modules.
await bundle([READER, `../${METHODS}.ts`], FOLDER)
const path = compiled(READER)
const modules = path.replace('.js', 'OfModules.js')
renameSync(path, modules)
writeFileSync(
  path,
  `import { workerData } from 'node:worker_threads'
const url = (path) => new URL(path, import.meta.url).href
const { methodsModule } = workerData
const isKnown = methodsModule === url('${relative(dirname(path), join(BUILD, `${METHODS}.js`)).replaceAll('\\', '/')}')
if (isKnown) workerData.methodsModule = url('${bundled(path, 'testMethods.js')}')
if (isKnown || methodsModule === undefined) await import('${bundled(path, 'readerThread.js')}')
else await import('./readerThreadOfModules.js')
`,
)

// Bundles src/ into dist/cli with esbuild: the program, and an entry for each kind of thread. Threads load a few files in
// place of hundreds of modules, which is most of the time that a server needs to start. All files lie in one folder, so
// that `new URL('./readerThread.js', import.meta.url)` names a thread's entry from whichever file it is bundled into.
import { spawnSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { bundle, INGEST, PROGRAM, READER, SERVER, THREADS } from './bundleEntries.mjs'
import { writeContained } from './contained.mjs'
import { ensureWebBuilt, ROOT, tool } from './ensure.mjs'

ensureWebBuilt()
const FOLDER = join('dist', 'cli')
const outputs = [
  await bundle([...PROGRAM, ...THREADS], FOLDER),
  // Alone, each is fewer files, and starts in a tenth to a fifth less processor time.
  await bundle([SERVER], FOLDER),
  await bundle([READER], FOLDER),
  await bundle([INGEST], FOLDER),
].flatMap((metafile) => Object.values(metafile.outputs))
writeContained(
  join(ROOT, FOLDER),
  outputs.flatMap(({ inputs }) =>
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

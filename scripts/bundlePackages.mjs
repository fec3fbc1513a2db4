// Bundles packages of many modules for the tests, which load src/ module by module. Node parses the 180 kB of the package.json
// of drizzle-orm for each of the 111 modules that a database needs, a second for every process and thread; viem has 400
// modules, and @ethereumjs 150. dist/ has all of it bundled.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build } from 'esbuild'
import { ROOT } from './ensure.mjs'

const BUILD = join(ROOT, 'build')
const FOLDER = join(BUILD, 'packages')
// As the compiler writes it, at the beginning of a line: not in the text of a program that a test writes.
const IMPORT =
  /^((?:(?:import|export)\b.*|\} )from |import )(['"])((?:drizzle-orm|viem|@ethereumjs\/(?:block|common|evm|mpt|tx|util|vm))(?:\/[\w/-]+)?)\2/gm

const fileOf = (specifier) => specifier.replaceAll('/', '-').replace('@', '')
const importers = readdirSync(BUILD, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.js'))
  .map((name) => ({ path: join(BUILD, name), text: readFileSync(join(BUILD, name), 'utf8') }))
  .filter(({ text }) => text.match(IMPORT))
const specifiers = new Set(importers.flatMap(({ text }) => Array.from(text.matchAll(IMPORT), (match) => match[3])))

await build({
  absWorkingDir: ROOT,
  entryPoints: Object.fromEntries(Array.from(specifiers, (specifier) => [fileOf(specifier), specifier])),
  outdir: FOLDER,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  external: ['better-sqlite3', 'ws'],
  // CommonJS packages call `require` for Node's own modules.
  banner: {
    js: "import { createRequire as $createRequire } from 'node:module'\nconst require = $createRequire(import.meta.url)",
  },
  logLevel: 'warning',
})
for (const { path, text } of importers) {
  const folder = relative(dirname(path), FOLDER) || '.'
  writeFileSync(
    path,
    text.replace(IMPORT, (_, before, quote, name) => `${before}${quote}${folder}/${fileOf(name)}.js${quote}`),
  )
}

// Groups of test files that run in one process each: modules are loaded and compiled once for a group, which saves a third
// of a second of processor time a file. Each file is a test of its group, loaded when its turn comes; its hooks are its own.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from './ensure.mjs'

/** Files of a process, at most. */
const GROUP_FILES = { short: 10, long: 4 }

/** Tests of what a process has once: its memory, its flags, its exit, its browser. */
const ALONE =
  /^(bench|tools|e2e\/page)\/|^(server\/floods|server\/plain\/plainConnections|sync\/hostileFiles|sync\/follow\/deepFork)\b/

/** Writes modules to `folder` that load test files, each some of one folder of `tests`. Returns the paths to run: those of
 *  the modules, and of the files that run alone; those that take long come first, so that none of them is left alone in the
 *  end. `names` are relative to `tests`, and have slashes. */
export function groupTests(names, { tests, folder }) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const byRoom = new Map()
  for (const name of [...names.filter(isLong), ...names.filter((name) => !isLong(name))])
    byRoom.set(roomOf(name), [...(byRoom.get(roomOf(name)) ?? []), name])
  return [...byRoom].flatMap(([room, members]) =>
    room === undefined ? members.map((name) => join(tests, name)) : writeGroups(room, members, { tests, folder }),
  )
}

/** The name of the groups that a file can be in; undefined for one that runs alone. */
function roomOf(name) {
  if (ALONE.test(name)) return undefined
  return `${name.split('/')[0].replace(/\..*/, '')}${isLong(name) ? '.long' : ''}`
}

function writeGroups(room, members, { tests, folder }) {
  const count = Math.ceil(members.length / GROUP_FILES[isLong(members[0]) ? 'long' : 'short'])
  return Array.from({ length: count }, (_, group) => {
    const path = join(folder, `${room}.${group + 1}.test.mjs`)
    writeFileSync(
      path,
      groupSource(
        tests,
        members.filter((_, i) => i % count === group),
      ),
    )
    return path
  })
}

function groupSource(tests, names) {
  const files = names.map((name) => [`test/${name.replace(/\.js$/, '.ts')}`, pathToFileURL(join(tests, name)).href])
  return `import { test } from 'node:test'
import { beginFile } from '${pathToFileURL(join(ROOT, 'scripts', 'testFile.mjs')).href}'
for (const [name, url] of ${JSON.stringify(files)}) {
  test(name, async () => {
    beginFile(name)
    await import(url)
    await test('all tests of the file have ended', () => {}) // its turn comes last: a test does not wait for those within
  })
}
`
}

function isLong(name) {
  return name.endsWith('.long.test.js')
}

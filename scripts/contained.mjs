// Which packages a build has put into a folder of dist/, for `npm run sbom`.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FILE = '.cairn-packages'

/** Notes in `folder` the packages of the source files that its code is from, by their keys in package-lock.json. */
export function writeContained(folder, sources) {
  const keys = sources.map(
    (source) => /node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+(?=\/)/.exec(source)?.[0],
  )
  const packages = [...new Set(keys)].filter((key) => key !== undefined)
  writeFileSync(join(folder, FILE), `${JSON.stringify(packages.sort(), null, 2)}\n`)
}

/** Returns the keys that `writeContained` noted. */
export function readContained(folder) {
  return JSON.parse(readFileSync(join(folder, FILE), 'utf8'))
}

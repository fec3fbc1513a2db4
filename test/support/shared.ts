import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packagePath } from '../../src/store/open.js'

/** Returns a path below the folder of shared data beside the repository, or undefined when the folder is missing.
 *  @throws Error in CI when it is missing */
export function sharedPath(...parts: string[]): string | undefined {
  const folder = join(dirname(packagePath('package.json')), '..', 'shared')
  if (existsSync(folder)) return join(folder, ...parts)
  if (process.env.CI === 'true') throw new Error(`${folder} is missing, and CI must not skip what needs it`)
  return undefined
}

/** Why tests of shared data are skipped; false when the folder is there. */
export const SKIP_SHARED: false | string = sharedPath() === undefined && 'no folder ../shared beside the repository'

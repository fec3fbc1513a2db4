import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packagePath } from '../../src/store/open.js'

/** A path below the folder of shared data that lies beside the repository, or undefined where there is none. In CI its
 *  absence is a failure. @throws Error in CI when there is none. */
export function sharedPath(...parts: string[]): string | undefined {
  const folder = join(dirname(packagePath('package.json')), '..', 'shared')
  if (existsSync(folder)) return join(folder, ...parts)
  if (process.env.CI === 'true') throw new Error(`${folder} is missing, and CI must not skip what needs it`)
  return undefined
}

/** Why tests of shared data are skipped; false when the folder is there. */
export const SKIP_SHARED: false | string = sharedPath() === undefined && 'no folder ../shared beside the repository'

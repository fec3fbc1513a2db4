import { readFileSync } from 'node:fs'
import { packagePath } from './open.js'

/** The version of this package. */
export function packageVersion(): string {
  return (JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { version: string }).version
}

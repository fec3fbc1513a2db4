/** The oldest version of Node that Cairn runs on. better-sqlite3 13 needs Node 22: older versions crash with a
 *  segmentation fault. `shouldUpgradeCallback` of node:http needs 22.21. */
export const OLDEST_NODE = { major: 22, minor: 21 }

/** Returns true for a version of Node, such as `24.1.0`, that Cairn runs on. */
export function isSupportedNode(version: string): boolean {
  const [major, minor] = version.split('.').map(Number)
  return major > OLDEST_NODE.major || (major === OLDEST_NODE.major && minor >= OLDEST_NODE.minor)
}

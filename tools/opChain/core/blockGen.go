package core

import "github.com/ethereum/go-ethereum/consensus/misc"

// EnsureCreate2Deployer sets the code that a node sets in the first block of Canyon, which GenerateChain does not.
func (b *BlockGen) EnsureCreate2Deployer() {
	misc.EnsureCreate2Deployer(b.cm.config, b.header.Time, b.statedb)
}

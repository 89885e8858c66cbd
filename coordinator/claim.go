package coordinator

// ClaimFile in the data directory holds the id that a new cluster will have.
const ClaimFile = "claim"

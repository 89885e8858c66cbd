package s3

// Forbidden says what an address is that no store has.
var Forbidden = forbidden

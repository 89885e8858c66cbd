package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/pluginpb"
)

// runPlugin hands req to the named tool of this module and adds the files it
// answers with to out.
func runPlugin(ctx context.Context, name string, req *pluginpb.CodeGeneratorRequest, out map[string][]byte) error {
	input, err := proto.Marshal(req)
	if err != nil {
		return err
	}
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "tool", name)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &output, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go tool %s (run in deploy/tools): %w", name, err)
	}
	var resp pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(output.Bytes(), &resp); err != nil {
		return fmt.Errorf("%s: answer is no CodeGeneratorResponse: %w", name, err)
	}
	if resp.Error != nil {
		return fmt.Errorf("%s: %s", name, resp.GetError())
	}
	for _, file := range resp.File {
		if file.GetInsertionPoint() != "" {
			return fmt.Errorf("%s: %s uses insertion points, which protogen does not do", name, file.GetName())
		}
		out[file.GetName()] = []byte(file.GetContent())
	}
	return nil
}
